# The answer made of the results: one JSON value a line in, the tool's output out.
include "outline";

def answer($results; $max; $is_cut):
  ($results | length) as $count
  # More lines than can be shown are not worked out.
  | [limit($max / 2; if $count == 1 then $results[0] | outline(""; 6) else $results | outline(""; 7) end)] as $lines
  | (if $count == 0 then "" else $lines | join("\n") end) as $all
  | (if $count == 0 then "No result." elif $count == 1 then "" else "\($count) results:\n" end) as $head
  | (if $is_cut then "\nThere are more results than fit: narrow the query, as with .[0:10] or limit(10; …)." else "" end) as $more
  | (if ($all | length) > $max then $all[0:$max] + "\n…" else $all end) as $shown
  | {
      text: ($head + $shown + $more),
      title: (if $count == 1 then "1 result" else "\($count) results" end),
      html: (
        "<div style=\"padding:16px;font-family:sans-serif\">"
        + "<div style=\"color:#666;font-size:0.85rem;margin-bottom:8px\">\($query[0:200] | @html)</div>"
        + "<pre style=\"margin:0;white-space:pre-wrap\">\($shown | @html)</pre></div>"
      ),
      data: { results: $results, count: $count, truncated: $is_cut }
    };

[inputs] as $results
# Deeper data is refused by the platform.
| if ([$results | paths | length] | max // 0) > 50
  then { error: "A result is nested more than 50 deep: pick a part of it." }
  else answer($results; $text_max | tonumber; $is_cut == "true")
  end
