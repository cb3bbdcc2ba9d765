import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { seededRandom } from '../../src/service/random.ts'
import type { JsonSchema } from '../../src/service/request/generation-request.ts'
import { schemaIssue, valueFor } from '../../src/service/request/schema-value.ts'

const leaf = fc.oneof(
  fc.record({ type: fc.constant('string'), minLength: fc.nat(30) }),
  fc.record({ type: fc.constant('string'), maxLength: fc.nat(5) }),
  fc.record({ type: fc.constant('string'), format: fc.constantFrom('uuid', 'date', 'email') }),
  fc
    .tuple(fc.integer({ min: -50, max: 50 }), fc.nat(40), fc.constantFrom('integer', 'number'))
    .map(([minimum, more, type]) => ({ type, minimum, maximum: minimum + more })),
  fc.record({ type: fc.constant('integer'), exclusiveMinimum: fc.integer({ min: -9, max: 9 }) }),
  fc.record({ type: fc.constant('boolean') }),
  fc.record({ type: fc.constant('null') }),
  fc.record({ enum: fc.array(fc.string(), { minLength: 1, maxLength: 4 }) }),
  fc.record({ const: fc.oneof(fc.string(), fc.integer()) }),
)
const { schema: anySchema } = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc
      .dictionary(fc.stringMatching(/^[a-z]{1,6}$/), tie('schema'), { maxKeys: 4 })
      .map((properties) => ({
        type: 'object',
        properties,
        required: Object.keys(properties).slice(1),
        additionalProperties: false,
      })),
    fc
      .tuple(tie('schema'), fc.nat(3))
      .map(([items, minItems]) => ({ type: 'array', items, minItems })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
  ),
}))

test('a made-up value is one that a validator of another make accepts', () => {
  fc.assert(
    fc.property(anySchema, fc.integer(), (schema, seed) => {
      const validator = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
      const value = valueFor(schema as JsonSchema, seededRandom(seed))
      const judged = validator.safeParse(value)
      expect([value, judged.error?.issues]).toEqual([value, undefined])
    }),
    { numRuns: 300 },
  )
})

test('a reference with % before other signs than hex digits is a place that is not there', () => {
  const schema = { $ref: '#/$defs/50%', $defs: { '50%': { const: 1 } } } as JsonSchema
  expect(valueFor(schema, seededRandom(1))).toBe(1)
  const missing = { $ref: '#/$defs/%zz' } as JsonSchema
  expect(schemaIssue(missing)).toBe('$ref: expected a place in this schema; got #/$defs/%zz')
})

describe('a schema', () => {
  test.each<[object, unknown]>([
    [{ $ref: '#/$defs/a', $defs: { a: { const: 5 } } }, 5],
    [
      { allOf: [{ properties: { a: { const: 1 } } }, { properties: { b: { const: 2 } } }] },
      { a: 1, b: 2 },
    ],
    [{ anyOf: [{ type: 'string', pattern: 'x' }, { const: 3 }] }, 3],
    [{ type: ['null', 'string'] }, null],
    [{ type: 'array', prefixItems: [{ const: 1 }, { const: 2 }] }, [1, 2]],
    [{ type: 'number', multipleOf: 0.5, exclusiveMinimum: 1, maximum: 1.5 }, 1.5],
    [{ type: 'integer', maximum: -3, minimum: -3 }, -3],
  ])('%j has a value', (schema, value) => {
    expect(valueFor(schema as JsonSchema, seededRandom(1))).toEqual(value)
  })

  test('that contains itself gets a finite value', () => {
    const node = {
      properties: { value: { type: 'integer' }, next: { $ref: '#' }, other: { $ref: '#' } },
    }
    expect(JSON.stringify(valueFor(node, seededRandom(1))).length).toBeLessThan(20_000)
  })

  test.each<[object, string]>([
    [{ type: 'string', pattern: '^a$' }, 'pattern: not done'],
    [{ type: 'integer', minimum: 5, maximum: 4 }, 'none exists'],
    [{ $ref: 'https://example.com/x' }, '$ref: expected a place in this schema'],
    [{ $ref: '#/$defs/gone' }, '$ref: expected a place in this schema'],
    [{ type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }, 'at most 32 levels'],
    [{ anyOf: [{ $ref: '#' }, { $ref: '#' }] }, 'expected a schema'],
    [{ type: 'array', items: {}, minItems: 1_000_000 }, 'minItems: expected at most 100'],
    [{ enum: [] }, 'enum: expected a value'],
    [{ type: 'thing' }, 'type: expected a JSON type'],
  ])('%j without a value says why', (schema, words) => {
    expect(schemaIssue(schema as JsonSchema)).toContain(words)
  })
})
