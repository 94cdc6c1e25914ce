import { freePort as findFreePort } from '@toolyard/service/free-port'

/** A port of this machine on which nobody listens; here too, for tests of libs that are below `service`. */
export const freePort = (): Promise<number> => findFreePort()
