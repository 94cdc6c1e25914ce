// Aho-Corasick over bytes. One automaton serves every reading of the output (plain, unescaped, decoded), so that
// its size is the sum of the secrets and not the sum of all their spellings.

export type SecretTrie = {
  /** The longest secret, in bytes. */
  readonly longest: number
  next: (state: number, byte: number) => number
  /** How many of the bytes read last may be the beginning of a secret. */
  depth: (state: number) => number
  /** The length of the longest secret that ends here, 0 for none. */
  found: (state: number) => number
  /** Whether a secret's first byte begins with these bits. */
  mayBegin: (value: number, bits: number) => boolean
}

const root = 0

export function createSecretTrie(secrets: readonly Uint8Array[]): SecretTrie {
  const size = 1 + secrets.reduce((sum, secret) => sum + secret.length, 0)
  // Children are a linked list: a node seldom has more than one, and a table of 256 for each byte of every
  // secret would cost 1 KiB a byte. The root, where nearly all reading happens, has its table.
  const byteOf = new Uint8Array(size)
  const firstChild = new Uint32Array(size)
  const sibling = new Uint32Array(size)
  const fail = new Uint32Array(size)
  const depths = new Uint32Array(size)
  const ends = new Uint32Array(size)
  const fromRoot = new Uint32Array(256)
  let used = 1

  const child = (node: number, byte: number): number => {
    if (node === root) return fromRoot[byte] ?? 0
    let at = firstChild[node] ?? 0
    while (at !== 0 && byteOf[at] !== byte) at = sibling[at] ?? 0
    return at
  }

  const addChild = (node: number, byte: number): number => {
    const made = used++
    byteOf[made] = byte
    depths[made] = (depths[node] ?? 0) + 1
    sibling[made] = firstChild[node] ?? 0
    firstChild[node] = made
    if (node === root) fromRoot[byte] = made
    return made
  }

  const next = (from: number, byte: number): number => {
    let state = from
    while (true) {
      const to = child(state, byte)
      if (to !== 0 || state === root) return to
      state = fail[state] ?? 0
    }
  }

  for (const secret of secrets) {
    let node = root
    for (const byte of secret) node = child(node, byte) || addChild(node, byte)
    ends[node] = secret.length
  }

  const queue = [root]
  for (let head = 0; head < queue.length; head++) {
    const node = queue[head] ?? root
    for (let at = firstChild[node] ?? 0; at !== 0; at = sibling[at] ?? 0) {
      fail[at] = node === root ? root : next(fail[node] ?? 0, byteOf[at] ?? 0)
      ends[at] = Math.max(ends[at] ?? 0, ends[fail[at] ?? 0] ?? 0)
      queue.push(at)
    }
  }

  return {
    longest: Math.max(0, ...secrets.map((secret) => secret.length)),
    next,
    depth: (state) => depths[state] ?? 0,
    found: (state) => ends[state] ?? 0,
    mayBegin: (value, bits) => fromRoot.some((node, byte) => node !== 0 && byte >> (8 - bits) === value),
  }
}
