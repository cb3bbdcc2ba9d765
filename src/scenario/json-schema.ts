import { z } from 'zod'
import { scenarioFile } from './file/scenario-file.ts'

/** The JSON Schema of scenario files, for editors. */
export function scenarioJsonSchema(): object {
  const schema = z.toJSONSchema(scenarioFile, { io: 'input', target: 'draft-2020-12' })
  return { ...schema, title: 'A scenario of Assay' }
}
