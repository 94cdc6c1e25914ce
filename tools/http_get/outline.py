"""JSON as lines that people and models read, without braces: those are cut from a tool's text."""

from web.ending import without_braces

DEPTH_MAX = 6


def outline(value, room):
    """Lines for a value, until there is no more room."""
    lines = []
    for line in lines_of(value, "", DEPTH_MAX):
        line = without_braces(line)
        room -= len(line) + 1
        if room < 0:
            lines.append("…")
            break
        lines.append(line)
    return "\n".join(lines)


def lines_of(value, indent, depth):
    if is_leaf(value):
        yield f"{indent}{leaf(value)}"
    elif depth == 0:
        yield f"{indent}({len(value)} more inside)"
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from entry(f"{indent}{' '.join(key.split())}:", one, indent, depth)
    else:
        for number, one in enumerate(value, 1):
            yield from [f"{indent}- {leaf(one)}"] if is_leaf(one) else entry(f"{indent}- item {number}:", one, indent, depth)


def entry(head, value, indent, depth):
    if is_leaf(value):
        yield f"{head} {leaf(value)}"
    else:
        yield head
        yield from lines_of(value, f"{indent}  ", depth - 1)


def is_leaf(value):
    return not isinstance(value, (dict, list)) or len(value) == 0


def leaf(value):
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, dict):
        return "(empty object)"
    if isinstance(value, list):
        return "(empty list)"
    return {None: "null", True: "true", False: "false"}.get(value, value) if value is None or isinstance(value, bool) else str(value)
