import { expect, test } from 'vitest'
import { uploadTo } from '../../src/cli/runs/upload.ts'
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
