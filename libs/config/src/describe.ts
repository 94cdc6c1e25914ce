import { apiSettings, schedulerSettings, workerSettings } from './apps.ts'
import type { Setting } from './setting.ts'
import type { SettingName } from './settings.ts'
import { settings } from './settings.ts'

// Text made from the settings: the two files that tell people of them. Written by scripts/write-configuration.ts.

type Named = { name: SettingName; setting: Setting }

const readers: readonly { process: string; names: readonly SettingName[] }[] = [
  { process: 'api', names: apiSettings },
  { process: 'worker', names: workerSettings },
  { process: 'scheduler', names: schedulerSettings },
]

const exampleHead = `\
# The settings of Toolyard, each with its default. \`./yard\` reads a copy of this file that is named .env, below the
# real environment. Uncomment what you change. Made from libs/config/src/settings.ts; docs/configuration.md explains.`

const pageHead = `\
# Configuration

Made from \`libs/config/src/settings.ts\` by \`scripts/write-configuration.ts\`: change it there.

Every process reads its settings from the environment when it starts, and \`./yard\` also from a file \`.env\` in the root
folder (\`.env.example\` is one to copy); where both set a variable, the environment wins. No setting is needed to start.

- All faults are reported at once; the process then ends with exit status 1.
- A variable that begins \`YARD_\` and is not in this table is a fault, so that a misspelt one is noticed.
- An empty value means "not set".
- A **secret** can also come from a file: \`DATABASE_URL_FILE=/run/secrets/database\` in place of \`DATABASE_URL\`. A relative
  path is meant from the folder where the command is typed, in \`.env\` from the root folder. White space around the value
  is dropped. Setting both is a fault. The values of secrets are never shown or logged.

| variable | default | read by | what it is |
| --- | --- | --- | --- |`

const pageFoot = `\
Where \`DOCKER_HOST\` begins \`tcp://\`, the Docker client reads two variables more, as the \`docker\` command does:
\`DOCKER_TLS_VERIFY=1\` speaks TLS (so does port 2376), \`DOCKER_CERT_PATH\` is the folder of \`ca.pem\`, \`cert.pem\` and
\`key.pem\`. They count in the environment only, together with \`DOCKER_HOST\`, not in \`.env\`.`

/** `.env.example`: every setting, commented out. */
export function envExample(): string {
  return `${[exampleHead, ...named().map(exampleBlock)].join('\n\n')}\n`
}

/** docs/configuration.md. */
export function configurationPage(): string {
  return `${[pageHead, ...named().map(tableRow)].join('\n')}\n\n${pageFoot}\n`
}

function exampleBlock({ setting }: Named): string {
  const lines = [`# ${setting.about}`, `#${setting.env}=${setting.default ?? ''}`]
  if (setting.secret) lines.push(`#${setting.env}_FILE=`)
  return lines.join('\n')
}

function tableRow({ name, setting }: Named): string {
  const variable = `\`${setting.env}\`${setting.secret ? ' (secret)' : ''}`
  const standard = setting.default === undefined ? '' : `\`${setting.default}\``
  return `| ${[variable, standard, readersOf(name).join(', '), setting.about].map(escapeCell).join(' | ')} |`
}

/** Who needs the setting. `./yard` checks all of them; it is named where nobody else reads it. */
function readersOf(name: SettingName): string[] {
  const found = readers.filter(({ names }) => names.includes(name)).map(({ process }) => process)
  return found.length === 0 ? ['`./yard`'] : found
}

function named(): Named[] {
  // safe because the keys of the object are its names
  return Object.entries<Setting>(settings).map(([name, setting]) => ({ name: name as SettingName, setting }))
}

const escapeCell = (text: string) => text.replaceAll('|', '\\|')
