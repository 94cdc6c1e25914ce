// The words with which the configuration's routes have always answered; programs compare them.

export const configComplete = 'Configuration looks complete'

export const configMissing = (keys: readonly string[]) => `Missing required config: ${listOf(keys)}`

export const configUnknownKeys = (keys: readonly string[]) => `Unknown config keys: ${listOf(keys)}`

export const unknownTool = (name: string) => `Unknown tool: ${name}`

// As Python writes a list of texts.
const listOf = (keys: readonly string[]) => `[${keys.map((key) => `'${key}'`).join(', ')}]`
