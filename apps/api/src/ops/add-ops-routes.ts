import type { Verifier } from '@toolyard/access/verifier'
import { AppError } from '@toolyard/contract/errors'
import type { Vault } from '@toolyard/vault/open-vault'
import type { Api } from '../create-api.ts'
import { createQuestion } from '../create-question.ts'
import type { Guard } from '../http/authenticate.ts'
import type { AddressReader } from '../http/client-address.ts'
import type { BoardRoutesDeps } from './add-board-routes.ts'
import { addBoardRoutes } from './add-board-routes.ts'
import { addSessionRoutes } from './add-session-routes.ts'
import { createBrowserView } from './browser-view.ts'
import type { FindSessionKeyDeps } from './find-session-key.ts'
import { createOpsGuard } from './ops-guard.ts'
import { createSessionCookie } from './session-cookie.ts'
import { createSessions } from './sessions.ts'

export type OpsDeps = FindSessionKeyDeps &
  Omit<BoardRoutesDeps, 'guard'> & {
    guard: Guard
    verifier: Verifier
    clientAddress: AddressReader
    trustedProxies: number
    vault: () => Promise<Vault>
  }

// The vault is pending for as long as it cannot be opened.
const vaultWaitMs = 1_500

/** What operators open in a browser. */
export function addOpsRoutes(api: Api, deps: OpsDeps): void {
  const { pool, watch, queues, guard, verifier, clientAddress } = deps
  const askVault = createQuestion(deps.vault, vaultWaitMs)
  const sessions = createSessions({
    masterKeys: async () => {
      const { masterKeys } = await askVault().catch((cause: unknown) => {
        throw new AppError('secrets_unavailable', 'Sessions cannot be signed before the vault is open', {
          cause,
        })
      })
      return masterKeys
    },
  })
  const view = createBrowserView(deps.trustedProxies)
  const cookie = createSessionCookie(view)
  addSessionRoutes(api, { verifier, clientAddress, sessions, cookie, view })
  addBoardRoutes(api, { pool, queues, guard: createOpsGuard({ pool, watch, guard, sessions, cookie, view }) })
}
