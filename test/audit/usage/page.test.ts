import { expect, test } from 'vitest'
import { verdictOn } from './answers.ts'

const before = { remaining: 99, consumed: 21 }
const now = { remaining: 97, consumed: 23 }

test.each([
  '<!doctype html><div id="app"></div><script src="/app.js"></script>',
  '<form><input type="password" name="password"></form><p>100 free credits, 99 tools</p>',
  '<b>99</b> of 120 <script>const consumed = 21</script>',
])('PAGE-01: a page that needs a script or a password does not fail: %s', async (page) => {
  expect((await verdictOn('PAGE-01', before, now, page, now)).verdict).not.toBe('fail')
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
