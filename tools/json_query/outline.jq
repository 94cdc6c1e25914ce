# JSON as lines that people and models read, without braces: those are cut from a tool's text.

def inline: gsub("\\s+"; " ") | gsub("\\{"; "(") | gsub("\\}"; ")");

def scalar: if type == "string" then inline else tojson end;

def is_leaf: (type != "object" and type != "array") or length == 0;

def leaf: if type == "object" then "(empty object)" elif type == "array" then "(empty list)" else scalar end;

# One line for each value; what lies deeper than the eye follows is told by its size.
def outline($indent; $depth):
  if is_leaf then $indent + leaf
  elif $depth == 0 then $indent + "(\(length) more inside)"
  elif type == "array" and all(.[]; is_leaf) then .[] | $indent + "- " + leaf
  elif type == "array" then
    range(length) as $at | "\($indent)- item \($at + 1):", (.[$at] | outline($indent + "  "; $depth - 1))
  else
    to_entries[] | (.key | inline) as $key | .value
    | if is_leaf then "\($indent)\($key): \(leaf)"
      else "\($indent)\($key):", outline($indent + "  "; $depth - 1)
      end
  end;
