import type { AppControllerRoute, UIConfig } from '@bull-board/api/typings/app'
import { writeAudit } from '@toolyard/access/write-audit'
import { AppError } from '@toolyard/contract/errors'
import type { Pool } from '@toolyard/db/pool'
import { QueueError } from '@toolyard/queue/queue-error'
import type { Queues } from '@toolyard/queue/queues'
import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { Api } from '../create-api.ts'
import { createQuestion, Unanswered } from '../create-question.ts'
import type { ApiEnv } from '../http/api-env.ts'
import { callOf } from '../http/call-of.ts'
import { signInPath } from './add-session-routes.ts'
import { readBoardFiles } from './board-files.ts'
import { createBoardQueues } from './board-queues.ts'
import { readBoardRoutes } from './board-routes.ts'
import type { OpsGuard } from './ops-guard.ts'
import { boardHeaders, fileHeaders } from './ops-headers.ts'

export type BoardRoutesDeps = {
  pool: Pool
  queues: Pick<Queues, 'boardQueues' | 'ping'>
  guard: OpsGuard
}

const basePath = '/ops/queues'
const answerMs = 5_000

const config: UIConfig = {
  boardTitle: 'Toolyard queues',
  hideDocsLink: true,
  miscLinks: [{ text: 'Sign out', url: '/ops/sign-out' }],
  pollingInterval: { showSetting: true },
}

type Answer = Awaited<ReturnType<AppControllerRoute['handler']>>

/** Bull Board below /ops/queues: its page, its files, and what its page asks for, all of it behind the guard. */
export function addBoardRoutes(api: Api, { pool, queues, guard }: BoardRoutesDeps): void {
  const { pages, routes, uiConfig } = readBoardRoutes(config)
  const files = readBoardFiles(`${basePath}/`, uiConfig)
  const shownQueues = createBoardQueues({ pool, queues })

  for (const page of pages) {
    const path = `${basePath}${page === '/' ? '' : page}`
    api.get(path, orSignIn(guard), (c) => c.html(files.page, 200, boardHeaders))
  }
  api.get(`${basePath}/`, (c) => c.redirect(basePath, 308))
  api.get(`${basePath}/static/*`, guard, (c) => {
    const file = files.find(c.req.path.slice(basePath.length + 1))
    if (file === undefined) throw new AppError('not_found', 'There is no such file')
    return c.body(file.bytes, 200, { ...fileHeaders, 'content-type': file.type })
  })

  async function ask(c: Context<ApiEnv>, route: AppControllerRoute): Promise<Answer> {
    // Of the route: a HEAD is answered by that of a GET.
    const isReading = [route.method].flat().includes('get')
    const { readOnly, writable } = await shownQueues()
    const mayAct = c.get('key').scopes.includes('tools:manage')
    const params = readParams(c)
    if (!isReading) {
      // Before it is done, because it is done elsewhere: what was tried is told, whatever came of it.
      await writeAudit(pool, callOf(c), {
        action: 'queue.act',
        target: `queue:${params['queueName'] ?? '*'}`,
        detail: { method: c.req.method, route: [route.route].flat().join(), ...params },
      })
    }
    return route.handler({
      queues: mayAct ? writable : readOnly,
      uiConfig,
      params,
      query: c.req.query(),
      body: isReading ? {} : await readBody(c),
      headers: {},
    })
  }

  for (const route of routes) {
    for (const method of [route.method].flat()) {
      const paths = [route.route].flat().map((path) => `${basePath}${path}`)
      api.on(method.toUpperCase(), paths, guard, async (c) => {
        // While Redis is away BullMQ's own objects never answer, and remember each question.
        await queues.ping().catch(tellUnreachable)
        const answer = await createQuestion(() => ask(c, route), answerMs)().catch(tellUnreachable)
        const status = answer.status ?? 200
        return status === 204 ? c.body(null, 204) : c.json(answer.body, status)
      })
    }
  }
}

/** A person who opens the page without a session wants the form; a program with a key in its hand wants the truth. */
const orSignIn = (guard: OpsGuard) =>
  createMiddleware<ApiEnv>(async (c, next) => {
    try {
      return await guard(c, next)
    } catch (error) {
      const isMissing = error instanceof AppError && error.code === 'unauthenticated'
      if (isMissing && c.req.header('authorization') === undefined) return c.redirect(signInPath, 303)
      throw error
    }
  })

function readParams(c: Context<ApiEnv>): Record<string, string> {
  const params = c.req.param()
  // No name and no id of ours has such characters, and Postgres could not even be asked for them.
  if (Object.values(params).some((value) => /\p{Cc}/u.test(value))) throw unreadable()
  return params
}

const unreadable = () => new AppError('malformed_request', 'The address cannot be read')

async function readBody(c: Context<ApiEnv>): Promise<Record<string, unknown>> {
  const text = await c.req.text()
  // Most actions have none.
  if (text === '') return {}
  const body = await c.req.json<unknown>()
  if (typeof body !== 'object' || body === null)
    throw new AppError('malformed_request', 'The body must be an object')
  return { ...body }
}

function tellUnreachable(error: unknown): never {
  if (error instanceof URIError) throw unreadable()
  if (error instanceof QueueError || error instanceof Unanswered) {
    throw new AppError('store_unavailable', 'The queue does not answer; try again', {
      retryAfterSeconds: 1,
      cause: error,
    })
  }
  throw error
}
