/**
 * For a class of characters in a regular expression with `u`. Postgres text cannot hold a NUL, half a surrogate pair
 * would be stored as another character, and a terminal must not be steered by a text, nor show it back to front.
 */
export const unprintable = String.raw`\p{Cc}\p{Cs}\u{2028}-\u{202e}\u{2066}-\u{2069}`
