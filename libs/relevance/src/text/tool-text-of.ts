import type { Manifest } from '@toolyard/contract/manifest'
import type { ToolText } from './tool-text.ts'

export function toolTextOf({ name, description, parameters, examples }: Manifest): ToolText {
  return {
    name,
    description,
    parameters: Object.entries(parameters).map(([parameter, { description: about }]) =>
      about === undefined ? { name: parameter } : { name: parameter, description: about },
    ),
    examples: (examples ?? []).map((example) => example.description),
  }
}
