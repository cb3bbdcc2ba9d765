import { writeFileSync } from 'node:fs'
import { usageSchema } from './shape.ts'

/** `npm run schema` writes the JSON Schema of `assay usage --json`. */
writeFileSync(new URL('../../../../docs/schema/usage.json', import.meta.url), usageSchema())
