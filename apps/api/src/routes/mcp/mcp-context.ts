import type { AccessKey } from '@toolyard/access/access-key'
import type { AfterCommit } from '@toolyard/invocations/after-commit'
import type { Within } from '@toolyard/invocations/close-rows'
import type { Watcher } from '@toolyard/invocations/watcher'
import type { Logger } from '@toolyard/log/logger'
import type { WideEvent } from '@toolyard/log/wide-event'
import type { ToolSearch } from '@toolyard/relevance/create-tool-search'
import type { StreamSlots } from '../../events/stream-slots.ts'
import type { SubmitRequestDeps } from '../invocations/submit-request.ts'
import type { CallsUnderWay } from './calls-under-way.ts'
import type { ToolView } from './list-mcp-tools.ts'
import type { ReaderPace } from './reader-pace.ts'

export type McpDeps = SubmitRequestDeps & {
  watcher: Watcher
  afterCommit: AfterCommit
  within: Within
  toolSearch: ToolSearch
  underWay: CallsUnderWay
  /** A place for each call that is waited for. */
  waits: Pick<StreamSlots, 'take'>
  log: Logger
  /** Whether this process is about to end: what it waits for goes on without it. */
  isLeaving: () => boolean
}

/** Who asks, and by what. */
export type McpRequest = {
  key: AccessKey
  /** Throws where the key is one no longer. */
  checkKey: () => Promise<unknown>
  requestId: string
  /** Of the calls that are made. */
  topic: string | undefined
  view: ToolView
  /** `modern`: 2026-07-28, where a request says all of itself; `legacy`: the versions before. */
  era: 'modern' | 'legacy'
  /** Whose ids of requests are told apart from those of others. */
  session: string
  /** Of whom the answer goes to. */
  pace: Pick<ReaderPace, 'isBehind'>
}

/** One message of a request. The request's own line may be written long before the answer to a message is there. */
export type McpMessage = McpRequest & { event: Pick<WideEvent, 'set'> }
