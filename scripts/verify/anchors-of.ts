/** The anchors that a page has where it is shown: those of its headings, and those that are written out. */
export function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  let inFence = false
  for (const line of page.split('\n')) {
    if (/^\s*(?:```|~~~)/.test(line)) inFence = !inFence
    if (inFence) continue
    for (const [, id = ''] of line.matchAll(/<a\s+(?:id|name)="([^"]+)"/g)) anchors.add(id)
    const title = /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1]
    if (title !== undefined) anchors.add(unused(slug(title), anchors))
  }
  return anchors
}

/** As the forges do it: the words in lower case, without marks, hyphens for blanks. */
function slug(title: string): string {
  return title
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-')
}

/** The second heading of the same words is counted. */
function unused(anchor: string, anchors: ReadonlySet<string>): string {
  if (!anchors.has(anchor)) return anchor
  let count = 1
  while (anchors.has(`${anchor}-${count}`)) count += 1
  return `${anchor}-${count}`
}
