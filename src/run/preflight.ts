import { connect } from 'node:net'
import { TargetError } from './errors.ts'

/**
 * Knocks once before a run: where nothing listens, a thousand refused connections say no more.
 *
 * @throws TargetError in one sentence
 */
export async function reach(baseUrl: string, waitMs = 5000): Promise<void> {
  const { hostname, port, protocol } = new URL(baseUrl)
  const number = Number(port || (protocol === 'https:' ? 443 : 80))
  const host = hostname.replace(/^\[|\]$/g, '')
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host, port: number, autoSelectFamily: true })
    const fail = (why: string) => {
      socket.destroy()
      reject(
        new TargetError(
          `${hostname}:${number} was never reached: ${why}. Start the service, or correct --base-url.`,
        ),
      )
    }
    socket.setTimeout(waitMs, () => fail(`no connection within ${waitMs / 1000} s`))
    socket.once('error', (error: NodeJS.ErrnoException) => fail(reasonOf(error)))
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
  })
}

function reasonOf(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'ECONNREFUSED':
      return 'nothing listens there (connection refused)'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its name is not known'
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'there is no route to it'
    default:
      return error.code ?? error.message
  }
}
