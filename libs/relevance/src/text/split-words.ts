/** Words of a name or a text: "getHTMLContent", "get_html_content" and "get HTML content" are the same three. */
export function splitWords(text: string): string {
  return text
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replace(/[_\-./:]+/g, ' ')
    .trim()
}
