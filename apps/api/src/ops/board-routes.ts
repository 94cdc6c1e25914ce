import { createBullBoard } from '@bull-board/api'
import type { AppControllerRoute, IServerAdapter, UIConfig } from '@bull-board/api/typings/app'
import { fileURLToPath } from 'node:url'
import { boardFolder } from './board-files.ts'

export type BoardRoutes = {
  /** Where the page is shown. */
  pages: readonly string[]
  /** What the page asks for. */
  routes: readonly AppControllerRoute[]
  uiConfig: UIConfig
}

// These write what a job holds, and jobs hold ids that a row knows: one made by hand is nobody's.
const refusedBodies: ReadonlySet<string | undefined> = new Set(['AddJobBody', 'UpdateJobDataBody'])

/**
 * Bull Board's routes, taken from it as its server adapters take them. Its own adapter for Hono is not used: it serves
 * the page with fonts from another host, files by paths relative to wherever the process was started, and the text of
 * every error.
 */
export function readBoardRoutes(config: UIConfig): BoardRoutes {
  let pages: string[] = []
  let routes: AppControllerRoute[] = []
  let uiConfig: UIConfig = config
  const collector: IServerAdapter = {
    setQueues: () => collector,
    setViewsPath: () => collector,
    setStaticPath: () => collector,
    setErrorHandler: () => collector,
    setEntryRoute({ route }) {
      pages = [route].flat()
      return collector
    },
    setApiRoutes(given) {
      routes = given.filter(({ spec }) => !refusedBodies.has(spec.body))
      return collector
    },
    setUIConfig(given) {
      uiConfig = given
      return collector
    },
  }
  const uiBasePath = fileURLToPath(new URL('..', boardFolder))
  createBullBoard({ queues: [], serverAdapter: collector, options: { uiConfig: config, uiBasePath } })
  return { pages, routes, uiConfig }
}
