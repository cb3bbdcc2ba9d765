import { writeFileSync } from 'node:fs'
import { openapiDocument } from './openapi.ts'

/** `npm run schema` writes the OpenAPI document of `assay usage serve`. */
const target = new URL('../../../docs/schema/usage-api.json', import.meta.url)
writeFileSync(target, `${JSON.stringify(openapiDocument(), null, 2)}\n`)
