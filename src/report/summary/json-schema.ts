import { z } from 'zod'
import { summaryShape } from './shape.ts'

/** The published JSON Schema of a run's summary, as `docs/schema/run-summary.json` holds it. */
export function summarySchema(): string {
  return `${JSON.stringify(z.toJSONSchema(summaryShape, { reused: 'ref' }), null, 2)}\n`
}
