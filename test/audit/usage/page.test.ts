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
