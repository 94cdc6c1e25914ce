const nameLengthMax = 253
const label = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/

/** In lower case and ASCII. A last label that begins with a digit could be read as a number, the name as an address. */
export function isHostName(text: string): boolean {
  const labels = text.split('.')
  return (
    text.length <= nameLengthMax &&
    labels.every((one) => label.test(one)) &&
    /^[a-z]/.test(labels.at(-1) ?? '')
  )
}
