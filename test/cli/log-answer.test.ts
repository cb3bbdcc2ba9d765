import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { logAnswer } from '../../src/cli/usage/log-answer.ts'
import { UserError } from '../../src/user/user-error.ts'

async function serving(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/log`
}

const failure = async (url: string): Promise<unknown> => {
  try {
    return await logAnswer(url, 5000)
  } catch (error) {
    return error
  }
}

test('a packed log that is cut or damaged is refused with its address', async () => {
  const whole = gzipSync('id,cost\n1,2\n'.repeat(50))
  const damaged = Buffer.from(whole).fill(0xff, 12, 20)
  for (const bytes of [whole.subarray(0, -9), damaged]) {
    const error = await failure(await serving((_, response) => response.end(bytes)))
    expect(error).toBeInstanceOf(UserError)
    expect(String(error)).toMatch(
      /--log: http:\/\/127\.0\.0\.1:\d+\/log is packed, and damaged or cut off\./,
    )
  }
  expect(await logAnswer(await serving((_, response) => response.end(whole)), 5000)).toMatchObject({
    text: 'id,cost\n1,2\n'.repeat(50),
  })
})

test('a redirect to no address is told as what it is, and redirects without an end as theirs', async () => {
  const to = (location: string) =>
    serving((_, response) => response.writeHead(302, { location }).end())
  expect(String(await failure(await to('http://')))).toMatch(
    /log redirects to http:\/\/, which is no address\./,
  )
  expect(String(await failure(await to('/log')))).toMatch(/log redirects without an end\./)
})
