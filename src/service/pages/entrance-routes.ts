import type { Kit } from '../behaviour.ts'
import type { CustomerService } from './customer-service.ts'
import { registerPage, signInPage } from './entrance.ts'
import type { PageAnswer, PageRequest } from './exchange.ts'
import type { Flashes } from './flashes.ts'
import { type PageRoute, page, redirect, refused, withInvite } from './route.ts'
import type { Session, Sessions } from './sessions.ts'
import type { Guards } from './tries.ts'

/** Registration, and sessions opened by a password or a key. */
export class EntranceRoutes {
  readonly #kit: Kit
  readonly #customerService: CustomerService
  readonly #sessions: Sessions
  readonly #flashes: Flashes
  readonly #guards: Guards

  constructor(
    kit: Kit,
    customerService: CustomerService,
    sessions: Sessions,
    flashes: Flashes,
    guards: Guards,
  ) {
    this.#kit = kit
    this.#customerService = customerService
    this.#sessions = sessions
    this.#flashes = flashes
    this.#guards = guards
  }

  routes(): readonly PageRoute[] {
    const { contract } = this.#kit
    return [
      [
        'GET /register',
        ({ query }) =>
          page(
            registerPage(contract, { email: '', invite: query.get('invite') ?? '', issues: [] }),
          ),
      ],
      ['POST /register', (request) => this.#register(request)],
      [
        'GET /sign-in',
        (_, session) =>
          session === null
            ? page(signInPage({ email: '', issues: [] }))
            : redirect(session.scope === 'account' ? '/dashboard' : '/my-credits'),
      ],
      [
        'POST /sign-in',
        (request) => (request.form.has('key') ? this.#signInByKey(request) : this.#signIn(request)),
      ],
      ['POST /sign-out', (_, session) => this.#signOut(session)],
    ]
  }

  async #register(request: PageRequest): Promise<PageAnswer> {
    const { form } = request
    const email = form.get('email') ?? ''
    const invite = form.get('invite') ?? ''
    try {
      const password = form.get('password') ?? ''
      const account = await withInvite(this.#guards, request, (inviteCode) =>
        this.#customerService.register({ email, password, inviteCode }),
      )
      const { secret } = this.#sessions.open(account, 'account')
      this.#flashes.say(secret, 'Welcome. Make an API key to send your first request.')
      return redirect('/dashboard', secret)
    } catch (error) {
      return refused(error, (issues) => registerPage(this.#kit.contract, { email, invite, issues }))
    }
  }

  #signInByKey({ call, form }: PageRequest): PageAnswer {
    const { remoteAddress } = call.incoming
    try {
      this.#guards.keys.take(remoteAddress)
    } catch (error) {
      return refused(error, (issues) => signInPage({ email: '', issues: [] }, issues))
    }
    const key = this.#kit.accounts.findKey(form.get('key')?.trim() ?? '')
    if (key === null || key.revokedUs !== null) {
      const summary = 'There is no such key, or it was revoked.'
      return page(signInPage({ email: '', issues: [] }, [{ summary, field: null }]), 401)
    }
    this.#guards.keys.giveBack(remoteAddress)
    return redirect('/my-credits', this.#sessions.open(key.accountId, 'usage', key.id).secret)
  }

  async #signIn({ call, form }: PageRequest): Promise<PageAnswer> {
    const email = form.get('email') ?? ''
    const { remoteAddress } = call.incoming
    try {
      this.#guards.passwords.take(remoteAddress, email)
    } catch (error) {
      return refused(error, (issues) => signInPage({ email, issues }))
    }
    const account = await this.#customerService.signIn(email, form.get('password') ?? '')
    if (account === null) {
      const summary = 'The e-mail address or the password is wrong.'
      return page(signInPage({ email, issues: [{ summary, field: null }] }), 401)
    }
    this.#guards.passwords.succeeded(remoteAddress, email)
    return redirect('/dashboard', this.#sessions.open(account.id, 'account').secret)
  }

  #signOut(session: Session | null): PageAnswer {
    if (session !== null) {
      this.#flashes.take(session.secret)
      this.#sessions.end(session.secret)
    }
    return redirect('/sign-in', null)
  }
}
