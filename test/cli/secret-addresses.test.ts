import { expect, test } from 'vitest'
import { uploadTo } from '../../src/cli/runs/upload.ts'
import { nextLine } from '../../src/cli/terminal/next.ts'
import { shownBaseUrl } from '../../src/contract/base-url.ts'
import { chatAddress } from '../../src/service/upstream/target.ts'

test.each([
  ['s3://AKIA:SEC/RET0123@bucket/x', 's3://…@bucket/x'],
  ['s3://AKIA:SECRET0123@bucket', 's3://…@bucket'],
])('--upload %s is refused without its secret', async (target, shown) => {
  await expect(uploadTo(target)).rejects.toThrow(
    `--upload: expected s3://bucket/prefix; got ${shown}.`,
  )
})

test.each([
  ['htp://u:SECRET0123@h', 'got "htp://…@h"'],
  ['admin:SECRET0123@gpu.internal:8000/v1', 'got "…@gpu.internal:8000/v1"'],
  ['http://u:SECRET0123@h', 'expected no user or password in the address'],
  ['http://h/v1?api_key=SECRET0123', 'expected no query in the address'],
])('--upstream %s is refused without its secret', (address, summary) => {
  let message = ''
  try {
    chatAddress(address)
  } catch (error) {
    message = (error as Error).message
  }
  expect(message).toContain(summary)
  expect(message).not.toContain('SECRET')
})

test.each([
  ['admin:SECRET@gpu.internal:8000', '…@gpu.internal:8000'],
  ['SECRET:@h', '…@h'],
  ['https:/admin:SECRET@h:8000', 'https:/…@h:8000'],
  ['https:admin:SECRET@h', 'https:…@h'],
  ['http://admin:SEC/RET@h/v1?key=SECRET', 'http://…@h/v1?…'],
  ['gpu.internal:8000', 'gpu.internal:8000'],
])('the address %s is shown without its secret', (address, shown) => {
  expect(shownBaseUrl(address)).toBe(shown)
})

test('a printed command hides a password before which a slash is forgotten', () => {
  expect(nextLine(['run', 'a.yaml', '--base-url', 'https:/admin:SECRET@h'], 'runs it')).toContain(
    'https:/…@h',
  )
})
