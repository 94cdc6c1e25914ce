"""What the modules of this folder end with where there is no page."""


class Refusal(Exception):
    """What is wrong with the request, in words for whoever made it."""


class Unreachable(Exception):
    """What went wrong on the way or at the other end."""
