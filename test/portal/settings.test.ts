import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { contrast, grounds, mixedUntilReadable } from '../../src/portal/accent.ts'
import { checkAccent, readLogo } from '../../src/portal/logo.ts'
import { parseSettings } from '../../src/portal/settings.ts'
import { allWords, wordsFor } from '../../src/portal/words.ts'
import { settingsOf, settingsText } from './portal.ts'

test('every fault of a settings file has its line and column', () => {
  const text = `${settingsText}accent: blue\norigins2: []\naccounts:\n  a: { label: A, zone: UTC }\n`
  expect(() => parseSettings(text, 's.yaml')).toThrow(
    /s\.yaml:10:9: accent: expected a colour[\s\S]*s\.yaml:13:24: accounts\.a\.zone: Unrecognized key[\s\S]*origins2: Unrecognized key/,
  )
  expect(() => parseSettings('product: [', 's.yaml')).toThrow(/s\.yaml:1:\d+: /)
  expect(() =>
    parseSettings(settingsText.replace('https://app.example.com', "'*'"), 's.yaml'),
  ).toThrow('origins.0: expected an origin')
})

test('every language has every word with the same values, and a word of nobody is refused', () => {
  const valuesIn = (text: string) =>
    [...text.matchAll(/\{\w+\}/g)].map(([value]) => value).toSorted()
  const english = wordsFor('en', settingsOf())
  for (const locale of ['de-DE', 'fr', 'es-MX', 'ja']) {
    const words = wordsFor(locale, settingsOf())
    expect(Object.keys(words).toSorted()).toEqual([...allWords].toSorted())
    for (const word of allWords)
      expect([word, ...valuesIn(words[word])]).toEqual([word, ...valuesIn(english[word])])
  }
  expect(wordsFor('de', { words: { 'card.requests': 'Aufrufe' } })['card.requests']).toBe('Aufrufe')
  expect(() => wordsFor('de', { words: { 'card.request': 'x' } })).toThrow(
    'words: card.request: expected',
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
