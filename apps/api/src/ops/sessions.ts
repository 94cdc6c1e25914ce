import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Vault } from '@toolyard/vault/open-vault'

export const sessionSeconds = 1_800

type MasterKeys = Vault['masterKeys']

/**
 * Sessions of people who signed in with a key. Nothing is stored: a session is the id of its key and its end, signed
 * with what every process of the installation has and the database has not, so any of them knows it again, and who
 * reads a copy of the database can make none. It never holds longer than `sessionSeconds` and is never renewed.
 *
 * It says who signed in and no more. Whether that key still holds is asked of the key's row with every request.
 */
export type Sessions = {
  begin(keyId: string): Promise<string>
  /** Whose session it is; undefined for one that has ended and for anything that was not made here. */
  keyIdOf(session: string): Promise<string | undefined>
}

export type SessionsOptions = { masterKeys: () => Promise<MasterKeys>; nowMs?: () => number }

const sessionPattern = /^([0-9a-z]{26})\.(\d{1,12})\.([A-Za-z0-9_-]{43})$/

export function createSessions({ masterKeys, nowMs = Date.now }: SessionsOptions): Sessions {
  return {
    async begin(keyId) {
      const { current } = await masterKeys()
      const endsAt = Math.floor(nowMs() / 1_000) + sessionSeconds
      return `${keyId}.${endsAt}.${sign(current, keyId, endsAt).toString('base64url')}`
    },
    async keyIdOf(session) {
      const [, keyId, ends, signature] = sessionPattern.exec(session) ?? []
      if (keyId === undefined || signature === undefined) return undefined
      const endsAt = Number(ends)
      if (endsAt * 1_000 <= nowMs()) return undefined
      const given = Buffer.from(signature, 'base64url')
      // All of them: while master keys are rotated, processes differ in which one comes first.
      const isOurs = [...(await masterKeys()).byId.values()].some((key) =>
        timingSafeEqual(sign(key, keyId, endsAt), given),
      )
      return isOurs ? keyId : undefined
    },
  }
}

function sign({ wrapping }: MasterKeys['current'], keyId: string, endsAt: number): Buffer {
  const signing = Buffer.from(hkdfSync('sha256', wrapping, '', 'toolyard api: sessions', 32))
  return createHmac('sha256', signing).update(`${keyId}.${endsAt}`).digest()
}
