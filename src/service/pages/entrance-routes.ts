import type { Kit } from '../behaviour.ts'
import type { CustomerService } from './customer-service.ts'
import { registerPage, signInPage } from './entrance.ts'
import type { PageAnswer, PageRequest } from './exchange.ts'
import type { Flashes } from './flashes.ts'
import { type PageRoute, page, type Route, redirect, refused, withInvite } from './route.ts'
import type { Session, Sessions } from './sessions.ts'
import type { Guards } from './tries.ts'

/** Registration, and sessions opened by a password or a key. */
export function entranceRoutes(
  kit: Kit,
  customerService: CustomerService,
  sessions: Sessions,
  flashes: Flashes,
  guards: Guards,
): readonly PageRoute[] {
  const { contract } = kit
  const atRegister: Route = ({ query }) =>
    page(registerPage(contract, { email: '', invite: query.get('invite') ?? '', issues: [] }))
  const atSignIn: Route = (_, session) =>
    session === null
      ? page(signInPage({ email: '', issues: [] }))
      : redirect(session.scope === 'account' ? '/dashboard' : '/my-credits')
  return [
    ['GET /register', atRegister],
    ['POST /register', register],
    ['GET /sign-in', atSignIn],
    [
      'POST /sign-in',
      (request) => (request.form.has('key') ? signInByKey(request) : signIn(request)),
    ],
    ['POST /sign-out', (_, session) => signOut(session)],
  ]

  async function register(request: PageRequest): Promise<PageAnswer> {
    const { form } = request
    const email = form.get('email') ?? ''
    const invite = form.get('invite') ?? ''
    try {
      const password = form.get('password') ?? ''
      const account = await withInvite(guards, request, (inviteCode) =>
        customerService.register({ email, password, inviteCode }),
      )
      const { secret } = sessions.open(account, 'account')
      flashes.say(secret, 'Welcome. Make an API key to send your first request.')
      return redirect('/dashboard', secret)
    } catch (error) {
      return refused(error, (issues) => registerPage(contract, { email, invite, issues }))
    }
  }

  function signInByKey({ call, form }: PageRequest): PageAnswer {
    const { remoteAddress } = call.incoming
    try {
      guards.keys.take(remoteAddress)
    } catch (error) {
      return refused(error, (issues) => signInPage({ email: '', issues: [] }, issues))
    }
    const key = kit.accounts.findKey(form.get('key')?.trim() ?? '')
    if (key === null || key.revokedUs !== null) {
      const summary = 'There is no such key, or it was revoked.'
      return page(signInPage({ email: '', issues: [] }, [{ summary, field: null }]), 401)
    }
    guards.keys.giveBack(remoteAddress)
    return redirect('/my-credits', sessions.open(key.accountId, 'usage', key.id).secret)
  }

  async function signIn({ call, form }: PageRequest): Promise<PageAnswer> {
    const email = form.get('email') ?? ''
    const { remoteAddress } = call.incoming
    try {
      guards.passwords.take(remoteAddress, email)
    } catch (error) {
      return refused(error, (issues) => signInPage({ email, issues }))
    }
    const account = await customerService.signIn(email, form.get('password') ?? '')
    if (account === null) {
      const summary = 'The e-mail address or the password is wrong.'
      return page(signInPage({ email, issues: [{ summary, field: null }] }), 401)
    }
    guards.passwords.succeeded(remoteAddress, email)
    return redirect('/dashboard', sessions.open(account.id, 'account').secret)
  }

  function signOut(session: Session | null): PageAnswer {
    if (session !== null) {
      flashes.take(session.secret)
      sessions.end(session.secret)
    }
    return redirect('/sign-in', null)
  }
}
