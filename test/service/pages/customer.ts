import type { MovableClock } from '../../../src/service/clock.ts'
import type { ServiceOptions } from '../../../src/service/options.ts'
import { manualClock } from '../manual-clock.ts'
import { serving, type Target } from '../serving.ts'

/** A user of the dashboard like a browser without scripts: cookies, forms, redirects. */
export class Customer {
  readonly #origin: string
  #cookie = ''

  constructor(target: Target) {
    this.#origin = target.service.baseUrl
  }

  get cookie(): string {
    return this.#cookie
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Page> {
    return this.#follow(
      await fetch(this.#origin + path, {
        redirect: 'manual',
        headers: { cookie: this.#cookie, accept: 'text/html', ...headers },
      }),
    )
  }

  /** Sends a form with the token of the dashboard's forms. */
  async send(path: string, fields: Record<string, string>): Promise<Page> {
    const { text } = await this.get('/dashboard')
    const token = /name="token" value="([^"]+)"/.exec(text)?.[1] ?? ''
    return this.post(path, { token, ...fields })
  }

  async post(
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Page> {
    const body = new URLSearchParams(fields)
    return this.#follow(
      await fetch(this.#origin + path, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie: this.#cookie, origin: this.#origin, ...headers },
        body,
      }),
    )
  }

  register(email: string, invite = ''): Promise<Page> {
    return this.post('/register', { email, password: 'long enough', invite })
  }

  async makeKey(name = 'laptop'): Promise<string> {
    const { text } = await this.send('/dashboard/keys', { name })
    return /sk-svc-\w{40}/.exec(text)?.[0] ?? ''
  }

  async buy(name: string, order: string = crypto.randomUUID()): Promise<Page> {
    return this.send('/dashboard/buy', { package: name, order })
  }

  async inviteCode(): Promise<string> {
    const { text } = await this.get('/dashboard')
    return /id="invite-code">([^<]+)</.exec(text)?.[1] ?? ''
  }

  /** The balance on the dashboard. */
  async balance(): Promise<number> {
    const { text } = await this.get('/dashboard')
    return Number(/id="balance">([\d,]+)</.exec(text)?.[1]?.replaceAll(',', '') ?? Number.NaN)
  }

  async #follow(response: Response): Promise<Page> {
    const cookie = response.headers.get('set-cookie')
    if (cookie !== null) this.#cookie = cookie.split(';')[0]!
    const to = response.headers.get('location')
    if (response.status === 303 && to !== null) return this.get(to)
    return { status: response.status, text: await response.text(), headers: response.headers }
  }
}

export interface Page {
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

/** 31 January 2026, 12:00 UTC: a day that does not exist in the next month. */
export const startUs = Date.UTC(2026, 0, 31, 12) * 1000
export const dayUs = 86_400e6

/** A service whose time is stopped until a test moves it, without ready accounts. */
export async function openHouse(options: ServiceOptions = {}): Promise<{
  readonly target: Target
  readonly clock: MovableClock
  readonly visitor: () => Customer
}> {
  const clock = manualClock(startUs)
  const target = await serving({ clock, accounts: [], ...options })
  return { target, clock, visitor: () => new Customer(target) }
}
