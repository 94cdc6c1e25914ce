import { settings } from '@toolyard/config/settings'

/** With what Toolyard must have been started to send anything to this port of this machine. */
export const neededSettings = (port: number): string[] => [
  `${settings.webhookAllowHttp.env}=yes`,
  `${settings.webhookPorts.env}=${port}`,
  `${settings.webhookAllow.env}=127.0.0.1`,
]
