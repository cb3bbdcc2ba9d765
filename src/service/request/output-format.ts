import { isObject } from '../../user/json.ts'
import { type Fields, InvalidRequest, type Json, shown } from './fields.ts'
import type { Format, OutputFormat } from './generation-request.ts'
import { schemaIssue } from './schema-value.ts'

const text: OutputFormat = { kind: 'text' }

/** `response_format` of chat; `output_config.format` (before: `output_format`) of messages. */
export function readOutput(fields: Fields, format: Format): OutputFormat {
  if (format === 'chat') return chatOutput(fields.record('response_format'))
  const config = fields.record('output_config')
  const wanted = config?.format ?? fields.record('output_format')
  if (wanted === undefined || wanted === null) return text
  const name = config === undefined ? 'output_format' : 'output_config.format'
  if (isObject(wanted) && wanted.type === 'json_schema') {
    return schemaOutput(wanted.schema, `${name}.schema`)
  }
  throw new InvalidRequest(
    `${name}: expected an object with type json_schema; got ${shown(wanted)}`,
  )
}

function chatOutput(wanted: Json | undefined): OutputFormat {
  switch (wanted?.type) {
    case 'text':
      return text
    case 'json_object':
      return { kind: 'object' }
    case 'json_schema': {
      const { json_schema: named } = wanted
      return schemaOutput(
        isObject(named) ? named.schema : undefined,
        'response_format.json_schema.schema',
      )
    }
  }
  if (wanted === undefined) return text
  throw new InvalidRequest(
    `response_format.type: expected text, json_object or json_schema; got ${shown(wanted.type)}`,
  )
}

function schemaOutput(schema: unknown, where: string): OutputFormat {
  if (!isObject(schema)) {
    throw new InvalidRequest(`${where}: expected a JSON Schema; got ${shown(schema)}`)
  }
  const issue = schemaIssue(schema)
  if (issue !== null) throw new InvalidRequest(`${where}: ${issue}`)
  return { kind: 'schema', schema }
}
