import Docker from 'dockerode'

/** The client, for those who pass it on. */
export type Engine = Docker

/** A client of the engine at this address and no other, whatever this process' environment says. */
export function openEngine(dockerHost: string, timeoutMs?: number): Docker {
  const url = new URL(dockerHost)
  // The client mixes DOCKER_HOST of its own process into what is left out here, so nothing is left out.
  if (url.protocol === 'unix:') {
    return new Docker({
      timeout: timeoutMs,
      socketPath: socketPathOf(dockerHost),
      host: undefined,
      port: undefined,
      protocol: 'http',
    })
  }
  const address = { host: url.hostname.replace(/^\[|\]$/g, ''), socketPath: undefined }
  const secure = url.protocol === 'https:'
  if (secure || url.protocol === 'http:') {
    return new Docker({
      timeout: timeoutMs,
      ...address,
      port: url.port || (secure ? 2376 : 2375),
      protocol: secure ? 'https' : 'http',
    })
  }
  // Plain or TLS is not said by tcp://; there the client's own reading of DOCKER_TLS_VERIFY and DOCKER_CERT_PATH holds.
  return new Docker({ timeout: timeoutMs, ...address, port: url.port || 2375 })
}

/** What follows `unix://` is the path as it is, as Docker reads it: a space or a percent sign stands for itself. */
export const socketPathOf = (dockerHost: string) => dockerHost.replace(/^unix:(\/\/)?/, '')
