import { z } from 'zod'
import { summaryShape } from './shape.ts'

/** The JSON Schema of a run's summary, which `npm run schema` writes to `docs/schema/run-summary.json`. */
export function summarySchema(): string {
  return `${JSON.stringify(z.toJSONSchema(summaryShape, { reused: 'ref' }), null, 2)}\n`
}
