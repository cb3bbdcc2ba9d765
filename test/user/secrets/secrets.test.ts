import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ResponseMemory } from '../../../src/client/bytes/memory.ts'
import { Capture } from '../../../src/client/row/capture.ts'
import { Secrets } from '../../../src/user/secrets/secrets.ts'
import { encodings, shows } from './encodings.ts'

const key = 'sk-live-Zx8/q+R0vT5wY2mN7pL4'

const redacted = (text: string, secret: string) => new Secrets([secret]).redacted(text)
const withoutKey = (text: string, secret: string) => new Secrets([secret]).without(text)
const mayHoldKey = (bytes: Buffer, start: number, end: number, secret: string) =>
  new Secrets([secret]).mayStandIn(bytes, start, end)

test.each(Object.keys(encodings))('a key that is echoed as %s is not kept', (name) => {
  const text = `{"error":{"message":"no such key: ${encodings[name]!(key)}.","code":"e"}}`
  const clean = redacted(text, key)!
  expect(clean).toContain('[key]')
  expect(clean).toMatch(/^\{"error":\{"message":"no such key: /)
  expect(clean).toMatch(/","code":"e"\}\}$/)
  expect(shows(clean, key)).toBe(false)
})

/** Capitals lose what other encodings say, so they come first or not at all. */
const encoding = fc.constantFrom(...Object.keys(encodings).filter((name) => name !== 'in capitals'))
const nesting = (most: number) =>
  fc
    .tuple(fc.boolean(), fc.array(encoding, { minLength: 1, maxLength: most }))
    .map(([inCapitals, nest]) => (inCapitals ? ['in capitals', ...nest] : nest))
    // Full-width letters have no zero bytes.
    .filter((nest) => !(nest.includes('letters of two bytes') && nest.includes('full width')))
const secrets = fc.string({
  unit: fc.constantFrom(...'abcXYZ019-_/+.=~"%&\\'),
  minLength: 16,
  maxLength: 48,
})
const around = fc.string({ unit: fc.constantFrom(...'ab {}":,\\n%é'), maxLength: 20 })

test('no eight letters of the key survive any nesting of encodings, cut anywhere', {
  tags: 'whole',
}, () => {
  fc.assert(
    fc.property(
      secrets,
      nesting(4),
      around,
      around,
      fc.array(fc.nat(1000), { maxLength: 4 }),
      (secret, nest, before, behind, cuts) => {
        const echoed = nest.reduce((text, name) => encodings[name]!(text), secret)
        const bytes = Buffer.from(`${before} ${echoed} ${behind}`)
        const capture = new Capture(
          new Secrets([secret]),
          1 << 20,
          new ResponseMemory(),
          bytes,
          0,
          0,
        )
        let from = 0
        for (const cut of [...cuts, bytes.length]
          .map((at) => Math.min(at, bytes.length))
          .sort((a, b) => a - b)) {
          capture.add(bytes, from, cut)
          from = cut
        }
        const { body } = capture.finish(null)
        expect([nest, shows(body, secret)]).toEqual([nest, false])
        expect([nest, body]).toEqual([nest, expect.stringMatching(/\[key\]|\[not kept/)])
      },
    ),
    { numRuns: 600 },
  )
})

test('full-width letters in folded lines are found, whatever the length of the key', () => {
  const nest = [
    'base64 folded and indented',
    'full width',
    'base64 behind two',
    'hex with prefixes',
  ]
  for (let length = 16; length <= 48; length++) {
    const secret = 'a'.repeat(length)
    const echoed = nest.reduce((text, name) => encodings[name]!(text), secret)
    expect([length, redacted(echoed, secret)]).toEqual([length, expect.stringContaining('[key]')])
  }
})

test('eight letters of a key are redacted, seven are kept', () => {
  expect(redacted(`id ${key.slice(4, 12)} and ${key.slice(4, 11)}`, key)).toBe(
    `id [key] and ${key.slice(4, 11)}`,
  )
})

test('eight letters of a key are redacted in any three encodings', () => {
  const part = key.slice(4, 12)
  const byBase64 = (text: string) => Buffer.from(text).toString('base64')
  const byHex = (text: string) => encodings['hex with spaces']!(text).replaceAll(' ', ':')
  for (const echoed of [
    byBase64(byHex(part)),
    byBase64(byBase64(byBase64(part))),
    byBase64(byBase64(encodings.base32!(part))),
    byHex(encodings['base32 in small letters']!(part)),
  ]) {
    expect([echoed, redacted(`debug=${echoed}`, key)]).toEqual([
      echoed,
      expect.stringContaining('[key]'),
    ])
  }
})

test('a body that was cut within the key shows none of it, in any encoding', {
  tags: 'whole',
}, () => {
  for (const name of Object.keys(encodings)) {
    const echoed = Buffer.from(`${'x'.repeat(40)} ${encodings[name]!(key)}`)
    for (let bound = 40; bound < echoed.length; bound += 7) {
      const capture = new Capture(new Secrets([key]), bound, new ResponseMemory(), echoed, 0, 0)
      capture.add(echoed, 0, echoed.length)
      expect([name, bound, shows(capture.finish(null).body, key)]).toEqual([name, bound, false])
    }
  }
})

test('a text with too many encoding levels is not kept, and a note says so', () => {
  const deep = `%${'25'.repeat(50)}41`
  expect(redacted(deep, key)).toBe(null)
  expect(withoutKey(deep, key)).toContain('[not kept: ')
})

test('a compressed body is not kept, and a note says so', () => {
  const head = Buffer.from(`Content-Encoding: gzip\r\nX-Echo: ${key}\r\n`)
  const capture = new Capture(new Secrets([key]), 100, new ResponseMemory(), head, 0, head.length)
  capture.add(Buffer.from('\x1f\x8b'), 0, 2)
  expect(capture.finish('gzip')).toEqual({
    headers: 'Content-Encoding: gzip\nX-Echo: [key]',
    body: '[not kept: content-encoding gzip]',
    truncated: true,
  })
})

test('a text without the key is kept unchanged', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 2), (text, indent) => {
      const body = JSON.stringify(JSON.parse(text), null, indent)
      expect(redacted(body, key)).toBe(body)
    }),
  )
  const prose = 'internationalization of https://example.com/v1/chat?a=%20b, cafébabe\\n\\u00e9 '
  expect(redacted(prose.repeat(100), key)).toBe(prose.repeat(100))
})

describe('an id', () => {
  test('that may hold the key in any two encodings is always searched', { tags: 'whole' }, () => {
    for (const [first, inner] of Object.entries(encodings)) {
      for (const [second, outer] of Object.entries(encodings)) {
        // A JSON string cannot contain zero bytes, and capitals lose what encodings say.
        if (second === 'letters of two bytes' || second === 'in capitals') continue
        const bytes = Buffer.from(`"id-${outer(inner(key))}"`)
        const may = mayHoldKey(bytes, 1, bytes.length - 1, key)
        expect([first, second, may]).toEqual([first, second, true])
      }
    }
  })

  // Characters that a JSON string may contain unescaped.
  const inStrings = Object.keys(encodings).filter(
    (name) =>
      ![
        'letters of two bytes',
        'in capitals',
        'base64 in lines',
        'base64 folded and indented',
      ].includes(name),
  )

  test('with any nesting of encodings of a key of any length is searched', {
    tags: 'whole',
  }, () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'abcXYZ019-_/+.'), minLength: 8, maxLength: 40 }),
        nesting(4),
        fc.constantFrom(...inStrings),
        fc.constantFrom('', 'id-', 'x', 'a1b2c3', '{"k":"'),
        (secret, inner, outer, before) => {
          const text = [...inner, outer].reduce((text, name) => encodings[name]!(text), secret)
          const bytes = Buffer.from(`${before}${text}`)
          expect([inner, outer, mayHoldKey(bytes, 0, bytes.length, secret)]).toEqual([
            inner,
            outer,
            true,
          ])
        },
      ),
      {
        numRuns: 3000,
        examples: [['aaa/aaa', ['json, slashes too', 'base64 for URLs'], 'base64 for URLs', '']],
      },
    )
  })

  const usual: Readonly<Record<string, (nth: number) => string>> = {
    'a name and hex': (nth) => `chatcmpl-${hash(nth).toString('hex').slice(0, 32)}`,
    'a UUID': (nth) =>
      hash(nth)
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5'),
    'a name and letters': (nth) => `chatcmpl-${hash(nth).toString('base64url').slice(0, 29)}`,
  }
  const hash = (nth: number) => createHash('sha256').update(`${nth}`).digest()

  test.each(Object.keys(usual))(
    'that is %s is rarely searched, for any key of eight letters or more',
    { tags: 'whole' },
    (shape) => {
      for (const length of [8, 10, 12, 15, 16, 28]) {
        let looked = 0
        for (let nth = 0; nth < 1000; nth++) {
          const bytes = Buffer.from(usual[shape]!(nth))
          if (mayHoldKey(bytes, 0, bytes.length, key.slice(0, length))) looked++
        }
        expect([length, looked <= 10 || looked]).toEqual([length, true])
      }
    },
  )

  test('with eight letters of the key, plain or encoded, is searched', { tags: 'whole' }, () => {
    const plain = ['base64', 'base64 for URLs', 'base32', 'hex'] as const
    fc.assert(
      fc.property(
        fc.nat(key.length - 8),
        fc.array(fc.constantFrom(...plain), { maxLength: 1 }),
        fc.string({ unit: fc.constantFrom(...'abc019-_'), maxLength: 12 }),
        fc.string({ unit: fc.constantFrom(...'abc019-_'), maxLength: 12 }),
        (from, codings, before, behind) => {
          const text = codings.reduce(
            (inner, coding) => encodings[coding]!(inner),
            key.slice(from, from + 8),
          )
          const bytes = Buffer.from(`${before}${text}${behind}`)
          expect([codings, mayHoldKey(bytes, 0, bytes.length, key)]).toEqual([codings, true])
        },
      ),
      { numRuns: 2000 },
    )
  })
})

test.each(['', 'none', 'EMPTY', 'sk-no-key-required'])(
  'the placeholder %j is not a secret: nothing is hidden',
  (placeholder) => {
    const bytes = Buffer.from(
      `"none EMPTY sk-no-key-required ${Buffer.from('none').toString('hex')}"`,
    )
    expect(withoutKey(bytes.toString(), placeholder)).toBe(bytes.toString())
    expect(mayHoldKey(bytes, 1, bytes.length - 1, placeholder)).toBe(false)
  },
)

/** Long secrets: one that is random, and some that repeat themselves. */
const longSecrets = {
  random: (n: number) =>
    Array.from({ length: n }, (_, at) => ((at * 7919 + ((at * at) % 8191)) % 36).toString(36)).join(
      '',
    ),
  'one letter': (n: number) => 'a'.repeat(n),
  words: (n: number) => 'the quick brown '.repeat(n).slice(0, n),
  'two letters': (n: number) =>
    Array.from({ length: n }, (_, at) => 'ab'[(at ^ (at >> 3)) & 1]).join(''),
}

test.each(Object.entries(longSecrets))(
  'a long secret of %s is found in time that grows with its length',
  (_, of) => {
    const secret = of(40_000)
    const beganMs = performance.now()
    const long = new Secrets([secret])
    expect(long.redacted(`before:${secret}:after`)).toBe('before:[key]:after')
    // A part from its middle, too; eight letters are a find.
    expect(long.redacted(`before:${secret.slice(20_003, 20_303)}:`)).toBe('before:[key]:')
    expect(long.mayStandIn(Buffer.from(secret), 0, 1000)).toBe(true)
    // 7 s before, and hours for one that repeats itself.
    expect(performance.now() - beganMs).toBeLessThan(5000)
  },
)

test('of a secret that repeats itself, no eight letters stay, wherever a text has a part of it', () => {
  const unit = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(unit, fc.nat(40), fc.nat(40), unit, unit, (piece, from, length, before, after) => {
      const secret = piece.repeat(Math.ceil(60 / piece.length)) + before + piece.repeat(3)
      const text = `${before}${secret.slice(from, from + length)}${after}${secret.slice(length, length + 9)}`
      const left = new Secrets([secret]).redacted(text)!.split('[key]')
      for (const rest of left) {
        for (let at = 0; at + 8 <= rest.length; at++) {
          expect(secret).not.toContain(rest.slice(at, at + 8))
        }
      }
    }),
  )
})

test('no eight letters of keys that repeat themselves stay, wherever the keys stand', {
  tags: 'whole',
}, () => {
  const few = (minLength: number, maxLength: number) =>
    fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength, maxLength })
  fc.assert(
    fc.property(
      fc.array(few(8, 30), { minLength: 1, maxLength: 3 }),
      few(0, 40),
      fc.array(fc.nat({ max: 2 }), { maxLength: 4 }),
      (keys, noise, order) => {
        const echoed = order.map((at) => keys[at % keys.length]).join(noise.slice(0, 3))
        const left = new Secrets(keys).without(`${noise}${echoed}${noise}`)
        const pieces = keys.flatMap((key) =>
          Array.from({ length: key.length - 7 }, (_, at) => key.slice(at, at + 8)),
        )
        expect(pieces.filter((piece) => left.includes(piece))).toEqual([])
      },
    ),
    { numRuns: 1000 },
  )
})
