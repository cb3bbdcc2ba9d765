import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Batch } from '../../src/attempt/batch.ts'
import { ResponseId } from '../../src/client/head/response-id.ts'
import { textOf } from '../../src/client/row/response-words.ts'
import { Secrets } from '../../src/user/secrets/secrets.ts'

const key = fc.constantFrom('', 'sk-12345', 'sk-a"b67', 'aaaaaaaa', 'sk 1/2345')
const piece = fc.constantFrom(
  'chatcmpl-',
  's',
  'sk',
  'sk-12345',
  'a',
  'aaaa',
  'é🙂',
  'x'.repeat(90),
  'sk-a"b67',
)

test('an id reaches its row unchanged but without the key and within its length bound', () => {
  const id = new ResponseId()
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), key, (pieces, secret) => {
      const secrets = new Secrets([secret])
      const raw = JSON.stringify(pieces.join('')).slice(1, -1)
      const bytes = Buffer.from(`"${raw}"`)
      const span = { start: 1, end: bytes.length - 1, escaped: raw.includes('\\') }
      const expected = textOf(bytes, span, secrets)
      if (secret !== '') expect(expected.replace(/~[0-9a-f]+$/, '')).not.toContain(secret)
      id.keep(bytes, span, secrets)
      expect(id.text).toBe(expected)
      const batch = new Batch()
      id.writeTo(batch, 3)
      const [start, length] = batch.columns.responseId.subarray(6, 8)
      expect(batch.arena.toString('utf8', start, start! + length!)).toBe(expected)
      id.clear()
      id.writeTo(batch, 3)
      expect([id.text, batch.columns.responseId[7]]).toEqual([null, -1])
    }),
    // A cut at the bound that would part a pair.
    {
      numRuns: 1000,
      examples: [[['x'.repeat(90), 'x'.repeat(90), 'xxxxx', 'é🙂'.repeat(9)], '']],
    },
  )
})
