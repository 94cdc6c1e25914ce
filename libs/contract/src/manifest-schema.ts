import { z } from 'zod'
import { manifest } from './manifest.ts'

/** The published JSON Schema of the manifest, for editors. What one field demands of another it cannot say. */
export function manifestSchema(): string {
  const schema = z.toJSONSchema(manifest, {
    io: 'input',
    target: 'draft-7',
    override: ({ jsonSchema }) => {
      // Editors read patterns each in their own way, and many take \p for the letter.
      if (jsonSchema.pattern?.includes(String.raw`\p{`) === true) delete jsonSchema.pattern
    },
  })
  return `${JSON.stringify({ ...schema, title: 'The manifest of a tool' }, undefined, 2)}\n`
}
