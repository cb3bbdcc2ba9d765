import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { main } from '../../e2e/command.ts'
import { hello } from '../serving.ts'

test('Ctrl-C ends a service after its charts were viewed', async () => {
  const child = spawn(process.execPath, [main, 'serve', '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const { baseUrl, keys } = JSON.parse(line) as { baseUrl: string; keys: { apiKey: string }[] }
  const headers = { authorization: `Bearer ${keys[0]?.apiKey}` }
  const body = JSON.stringify(hello)
  await fetch(`${baseUrl}/v1/chat/completions`, { method: 'POST', headers, body })
  const page = await (await fetch(`${baseUrl}/my-credits`, { headers })).text()
  expect(page).toContain('<svg')
  child.kill('SIGINT')
  expect(await once(child, 'exit')).toEqual([0, null])
}, 60_000)
