import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import { openapiDocument } from '../src/portal/api/openapi.ts'
import { summaryShape } from '../src/report/summary/shape.ts'
import { usageSchema } from '../src/report/usage/json/shape.ts'
import { scenarioFile } from '../src/scenario/file/scenario-file.ts'

/** The JSON Schema of scenario files, for editors. */
export function scenarioJsonSchema(): object {
  const schema = z.toJSONSchema(scenarioFile, { io: 'input', target: 'draft-2020-12' })
  return { ...schema, title: 'A scenario of Assay' }
}

/** The JSON Schema of a run's summary. */
export const summarySchema = () => z.toJSONSchema(summaryShape, { reused: 'ref' })

/** Files that `npm run schema` writes. */
const schemas: Readonly<Record<string, () => string>> = {
  'docs/schema/run-summary.json': () => textOf(summarySchema()),
  'docs/schema/usage.json': usageSchema,
  'docs/schema/usage-api.json': () => textOf(openapiDocument()),
  'scenarios/scenario.schema.json': () => textOf(scenarioJsonSchema()),
}

const textOf = (schema: object) => `${JSON.stringify(schema, null, 2)}\n`

if (import.meta.main) {
  for (const [file, text] of Object.entries(schemas)) {
    writeFileSync(new URL(`../${file}`, import.meta.url), text())
  }
}
