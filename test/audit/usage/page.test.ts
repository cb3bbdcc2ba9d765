import { expect, test } from 'vitest'
import { verdictOn } from './answers.ts'

const before = { remaining: 99, consumed: 21 }
const now = { remaining: 97, consumed: 23 }

test.each([
  '<!doctype html><div id="app"></div><script src="/app.js"></script>',
  '<form><input type="password" name="password"></form><p>100 free credits, 99 tools</p>',
  '<b>99</b> of 120 <script>const consumed = 21</script>',
])('PAGE-01: a page that needs a script or a password does not fail: %s', async (page) => {
  expect((await verdictOn('PAGE-01', before, now, page, now)).verdict).toBe('not-observed')
})

test.each([
  '<b>99</b> remaining',
  '<script src="/live.js"></script><b>99</b> remaining, 21 consumed',
])('PAGE-01: a page that shows the previous figures fails: %s', { tags: 'whole' }, async (page) => {
  expect(await verdictOn('PAGE-01', before, now, page, now)).toMatchObject({
    verdict: 'fail',
    observed: 'no 97 on the page',
  })
})

test.each(['1,499', '1.499', '1’499', '1&nbsp;499', '1&thinsp;499', '1 499'])(
  'PAGE-01: 1499 may be written as %s',
  async (written) => {
    const credits = { remaining: 1499, consumed: 21 }
    const pageOf = (text: string) => `<b>${text}</b> remaining`
    const verdictOf = async (text: string) =>
      (await verdictOn('PAGE-01', credits, credits, pageOf(text), credits)).verdict
    expect(await verdictOf(written)).toBe('pass')
    expect(await verdictOf(written.replace('499', '498'))).toBe('fail')
  },
)

test('PAGE-01: a page of scripts without an end is read in one pass', async () => {
  const page = '<script '.repeat(20_000)
  expect((await verdictOn('PAGE-01', before, now, page, now)).verdict).toBe('not-observed')
})

const page = (text: string) => `<!doctype html><title>Credits</title>${text}`
const ofBalance = async (remaining: number, text: string, consumed = 23) => {
  const credits = { remaining, consumed }
  const older = { remaining: remaining + 7, consumed: consumed - 7 }
  return (await verdictOn('PAGE-01', older, credits, page(text), credits)).verdict
}

test.each([
  ['a width', '<p style="width:97%">104 remaining</p>'],
  ['a style', '<style>.a{width:97px}</style><p>104 remaining</p>'],
  ['a date', '<p>104 remaining on 2097-01-97</p>'],
  ['a share', '<p>104 remaining, 97 % kept</p>'],
  ['a longer number', '<p>104 remaining for 97.50</p>'],
])('PAGE-01: %s that holds the digits is no balance', async (_, text) => {
  expect(await ofBalance(97, text)).not.toBe('pass')
  // The page shows the older figures.
  expect(await ofBalance(97, `${text} 16 consumed`)).toBe('fail')
  expect(await ofBalance(97, `${text} 97 remaining`)).toBe('pass')
})

test.each([
  [12.5, '12.50 remaining'],
  [12, '12.00 remaining'],
  [0.0000005, '0.00000050 remaining'],
  [-5, '\u22125 remaining'],
  [-5, '-5 remaining'],
])('PAGE-01: %d may be written as %s', { tags: 'whole' }, async (remaining, text) => {
  expect(await ofBalance(remaining, text)).toBe('pass')
})

test.each([
  [97, '<input readonly value="97"> of 120'],
  [97, '<b data-credits="97">…</b> of 120'],
  [12.3456, '12.35 remaining'],
  [12.3456, '12.34 remaining'],
  [97, 'Sign in with the link that we sent'],
  [97, '<form>Your address <input type="email"> <button>Continue</button></form> 120 free credits'],
  [97, 'Weiter mit dem Link in Ihrer Post'],
])('PAGE-01: nobody knows whether a page shows %d by %s', async (remaining, text) => {
  expect(await ofBalance(remaining, text)).toBe('not-observed')
})

test('PAGE-01: a page of digits and commas is read in a moment', async () => {
  const text = `1${',23'.repeat(60_000)}`
  const startedMs = performance.now()
  expect(await ofBalance(97, text)).toBe('fail')
  expect(performance.now() - startedMs).toBeLessThan(5_000)
})
