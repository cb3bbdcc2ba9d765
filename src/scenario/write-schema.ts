import { writeFileSync } from 'node:fs'
import { scenarioJsonSchema } from './json-schema.ts'

/** `npm run schema` writes the JSON Schema of scenario files, for editors. */
const target = new URL('../../scenarios/scenario.schema.json', import.meta.url)
writeFileSync(target, `${JSON.stringify(scenarioJsonSchema(), null, 2)}\n`)
