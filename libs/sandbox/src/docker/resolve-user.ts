export type UserIds = { uid: number; gid: number }

const idMax = 2_147_483_647

/**
 * The numbers behind `user` or `user:group`, by the image's own files. Resolved once, when the image is made: a name
 * could stand for uid 0, and the engine would not say so.
 */
export function resolveUser(user: string, passwd: string, group: string): UserIds | { unknown: string } {
  const [userWord = '', groupWord] = user.split(':')
  const entry = findEntry(passwd, userWord)
  const uid = asId(userWord) ?? asId(entry?.[2])
  if (uid === undefined) return { unknown: `the image has no user ${JSON.stringify(userWord)}` }
  if (groupWord === undefined || groupWord === '') return { uid, gid: asId(entry?.[3]) ?? uid }
  const gid = asId(groupWord) ?? asId(findEntry(group, groupWord)?.[2])
  return gid === undefined ? { unknown: `the image has no group ${JSON.stringify(groupWord)}` } : { uid, gid }
}

/** By name, or by the number in the third field. */
function findEntry(file: string, word: string): string[] | undefined {
  const entries = file.split('\n').map((line) => line.split(':'))
  return entries.find((fields) => fields[0] === word) ?? entries.find((fields) => fields[2] === word)
}

function asId(word: string | undefined): number | undefined {
  if (word === undefined || !/^\d{1,10}$/.test(word)) return undefined
  const id = Number(word)
  return id <= idMax ? id : undefined
}
