import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Color,
  differenceCiede2000,
  filterDeficiencyDeuter,
  filterDeficiencyProt,
  filterDeficiencyTrit,
  parse,
} from 'culori'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seriesOf } from '../../src/chart/theme.ts'
import { contrast, firstColour, grounds, mixedUntilReadable } from '../../src/portal/page/accent.ts'
import { checkAccent, readLogo } from '../../src/portal/page/logo.ts'
import { speechOf } from '../../src/portal/page/speech.ts'
import { allWords, wordsFor } from '../../src/portal/page/words.ts'
import { parseSettings, settingsFrom } from '../../src/portal/settings/settings.ts'
import { settingsOf, settingsText } from './portal.ts'

test('models of a grant are a list with names', () => {
  const grant = (models: string) =>
    settingsOf(`accounts: { a: { grants: [{ name: Pack, credits: 5, models: ${models} }] } }\n`)
  expect(grant('[mini]').accounts.get('a')?.grants?.[0]?.models).toEqual(['mini'])
  for (const wrong of ['[]', "['']", 'mini'])
    expect(() => grant(wrong)).toThrow('accounts.a.grants.0.models')
})

test('every fault of a settings file has its line and column', () => {
  const text = `${settingsText}accent: blue\norigins2: []\naccounts:\n  a: { label: A, zone: UTC }\n`
  expect(() => parseSettings(text, 's.yaml')).toThrow(
    /s\.yaml:11:9: accent: expected a colour[\s\S]*s\.yaml:14:24: accounts\.a\.zone: Unrecognized key[\s\S]*origins2: Unrecognized key/,
  )
  expect(() => parseSettings('product: [', 's.yaml')).toThrow(/s\.yaml:1:\d+: /)
  expect(() =>
    parseSettings(settingsText.replace('https://app.example.com', "'*'"), 's.yaml'),
  ).toThrow('origins.0: expected an origin')
})

test.each([
  ['mailto:help+usage@example.com?cc=b@example.com', true],
  ['https://example.com/help#usage', true],
  ['mailto:', false],
  ['mailto:help', false],
  ['mailto:help@example.com#day', false],
  ['mailto:a@example.com,b@example.com', true],
])('%s as support: %s', (support, isRight) => {
  const read = () => settingsOf('').support
  const text = settingsText.replace(/^support: .*$/m, `support: '${support}'`)
  const given = () => parseSettings(text, 's.yaml')
  expect(read()).toBe('https://example.com/help')
  if (isRight) expect(given().support).toBe(support)
  else expect(given).toThrow('support: expected a mail address, such as mailto:help@example.com')
})

test('a receiver has no user, no password and no second name', () => {
  const alerts = (...urls: readonly string[]) =>
    parseSettings(
      `alerts: { file: a.jsonl, webhooks: [${urls.map((url) => `{ url: '${url}', secretEnv: SECRET }`).join(', ')}] }\n`,
      's.yaml',
    )
  expect(() => alerts('https://:pw@host.example/x')).toThrow('without a user or password')
  expect(() => alerts('https://host.example/x', 'https://HOST.example/x')).toThrow(
    'expected each address once',
  )
  expect(() => alerts('https://host.example/x')).not.toThrow('webhooks')
})

test('a budget says what it expects, and many faults say how many more there are', () => {
  const wrong = (budget: unknown) => () =>
    settingsFrom({
      product: 'P',
      tokens: { algorithm: 'HS256', secretEnv: 'SECRET' },
      accounts: { a: { budget } as never },
    })
  expect(wrong('0')).toThrow('accounts.a.budget: expected an amount above 0')
  expect(wrong({ amount: '0' })).toThrow('accounts.a.budget: expected an amount above 0')
  expect(wrong([{ amount: '5' }, { amount: '0' }])).toThrow(
    'accounts.a.budget.1: expected an amount above 0',
  )
  expect(wrong({ amount: '5', period: 'hour' })).toThrow('accounts.a.budget.period: ')
  expect(wrong('five')).toThrow('accounts.a.budget: expected a decimal as text')
  expect(wrong(5000)).toThrow('accounts.a.budget: expected a decimal as text, such as "5000"')
  expect(() =>
    settingsFrom({
      product: 'P',
      tokens: { algorithm: 'HS256', secretEnv: 'SECRET' },
      accounts: Object.fromEntries(
        Array.from({ length: 150 }, (_, at) => [`a${at}`, { budget: '0' }]),
      ),
    }),
  ).toThrow('and 50 more')
  for (const budget of ['5', { amount: '5' }, [{ amount: '5' }]]) {
    expect(wrong(budget)().accounts.get('a')?.budget).toEqual([
      { amount: '5', unit: 'credits', period: 'month', thresholds: [0.8, 1] },
    ])
  }
})

test('every language has every word with the same values, and a word of nobody is refused', () => {
  const valuesIn = (text: string) =>
    [...text.matchAll(/\{\w+\}/g)].map(([value]) => value).toSorted()
  const countedIn = (text: string) =>
    [...text.matchAll(/\{(\w+)\|/g)].map(([, name]) => `{${name}}`)
  const english = wordsFor('en', settingsOf())
  for (const locale of ['de-DE', 'fr', 'es-MX', 'ja']) {
    const words = wordsFor(locale, settingsOf())
    expect(Object.keys(words).toSorted()).toEqual([...allWords].toSorted())
    for (const word of allWords) {
      expect([word, ...valuesIn(words[word])]).toEqual([word, ...valuesIn(english[word])])
      // `n` is the number of what is written.
      const counted = countedIn(words[word]).filter((name) => name !== '{n}')
      expect(valuesIn(words[word])).toEqual(expect.arrayContaining(counted))
    }
  }
  expect(wordsFor('de', { words: new Map([['card.requests', 'Aufrufe']]) })['card.requests']).toBe(
    'Aufrufe',
  )
  expect(() => wordsFor('de', { words: new Map([['card.request', 'x']]) })).toThrow(
    'words: card.request: expected',
  )
})

test.each([
  [
    'en',
    [
      '0 credits were used beyond what you had.',
      '1 credit was used beyond what you had.',
      '1.5 credits were used beyond what you had.',
      '2 credits were used beyond what you had.',
    ],
    ['1 request', 'Use 1 credit before X, or it expires.', '1 may expire'],
    ['2 requests', 'Use 2 credits before X, or they expire.', '2 may expire'],
  ],
  [
    'de',
    [
      '0 Credits wurden über das Guthaben hinaus verbraucht.',
      '1 Credit wurde über das Guthaben hinaus verbraucht.',
    ],
    ['1 Anfrage', 'Verbrauchen Sie 1 Credit vor dem X, sonst verfällt er.', '1 könnte verfallen'],
    [
      '2 Anfragen',
      'Verbrauchen Sie 2 Credits vor dem X, sonst verfallen sie.',
      '2 könnten verfallen',
    ],
  ],
  [
    'fr',
    [
      '0 crédit a été utilisé au-delà du solde.',
      '1 crédit a été utilisé au-delà du solde.',
      '1,5 crédit a été utilisé au-delà du solde.',
    ],
    ['1 requête', 'Utilisez 1 crédit avant le X, sinon il expire.', '1 risque d’expirer'],
    ['2 requêtes', 'Utilisez 2 crédits avant le X, sinon ils expirent.', '2 risquent d’expirer'],
  ],
  [
    'es',
    [
      '0 créditos se usaron por encima del saldo.',
      '1 crédito se usó por encima del saldo.',
      '1,5 créditos se usaron por encima del saldo.',
    ],
    ['1 solicitud', 'Use 1 crédito antes del X, o caducará.', '1 puede caducar'],
    ['2 solicitudes', 'Use 2 créditos antes del X, o caducarán.', '2 pueden caducar'],
  ],
  [
    'ja',
    ['残高を超えて0クレジットを使いました。', '残高を超えて1クレジットを使いました。'],
    [
      '1件のリクエスト',
      '1クレジットはXまでにお使いください。期限が切れます。',
      '1は期限切れの可能性',
    ],
    [
      '2件のリクエスト',
      '2クレジットはXまでにお使いください。期限が切れます。',
      '2は期限切れの可能性',
    ],
  ],
])('in %s, words agree with their numbers', (locale, used, one, two) => {
  const { say } = speechOf(wordsFor(locale, settingsOf()), { locale, timezone: 'UTC' })
  expect(
    [0, 1, 1.5, 2].map((credits) => say('lots.uncovered', { credits })).slice(0, used.length),
  ).toEqual(used)
  const said = (n: number) => [
    say('card.count', { requests: n }),
    say('notice.expiring', { credits: n, date: 'X' }),
    say('board.expire', { credits: n, n }),
  ]
  expect(said(1)).toEqual(one)
  expect(said(2)).toEqual(two)
})

test('an accent that any reader could mistake for another series colours links, and no chart', () => {
  expect(firstColour('#0b6bcb', 'light')).toBe('#0b6bcb')
  const [blue, brightBlue] = [seriesOf('light')[0]!, seriesOf('dark')[0]!]
  // Two oranges, a green, a purple, and a red that looks like the orange to a reader without green cones.
  for (const accent of ['#d65e00', '#c85a10', '#0a9a70', '#7a5f95', '#c8102e']) {
    expect(firstColour(accent, 'light')).toBe(blue)
  }
  expect(firstColour('#fa7a39', 'dark')).toBe(brightBlue)
  const difference = differenceCiede2000()
  const eyes = [
    (colour: Color) => colour,
    filterDeficiencyProt(1),
    filterDeficiencyDeuter(1),
    filterDeficiencyTrit(1),
  ]
  const part = fc.integer({ min: 0, max: 255 })
  fc.assert(
    fc.property(part, part, part, (r, g, b) => {
      const accent = `#${[r, g, b].map((each) => each.toString(16).padStart(2, '0')).join('')}`
      if (firstColour(accent, 'light') !== accent) return
      for (const other of seriesOf('light').slice(1)) {
        for (const seen of eyes) {
          const distance = difference(seen(parse(accent)!), seen(parse(other)!))
          expect(distance, `${accent} and ${other}`).toBeGreaterThan(4)
        }
      }
    }),
  )
})

test('an accent that cannot be read is refused with the nearest that can', () => {
  // The ratios of WCAG for black and for #767676, the lightest grey that passes on white.
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 5)
  expect(contrast('#767676', '#ffffff')).toBeCloseTo(4.54, 2)
  expect(() => checkAccent({ accent: '#777777' })).toThrow(
    /#777777 has a contrast of 4\.48 on white, expected 4\.5:1\. #767676 passes/,
  )
  expect(() => checkAccent({ accent: '#0b6bcb' })).not.toThrow()
  expect(
    contrast(mixedUntilReadable('#0b6bcb', '#ffffff', grounds.dark), grounds.dark),
  ).toBeGreaterThan(4.5)
})

test.each([
  '<svg onload="x()"/>',
  '<svg><script>1</script></svg>',
  '<svg><image href="https://e.example/x.png"/></svg>',
  '<svg><style>@import "x"</style></svg>',
  '<p>',
])('the logo %s is refused', (text) => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-logo-'))
  writeFileSync(join(folder, 'logo.svg'), text)
  expect(() => readLogo({ ...settingsOf(), folder, logo: 'logo.svg' })).toThrow('expected an SVG')
  writeFileSync(
    join(folder, 'logo.svg'),
    '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h1"/></svg>',
  )
  expect(readLogo({ ...settingsOf(), folder, logo: 'logo.svg' })).toContain('<path')
  rmSync(folder, { recursive: true })
})
