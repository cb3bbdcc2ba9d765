import type { FullContract } from '../../contract/contract.ts'
import { type Html, html } from '../../user/html.ts'
import type { FormIssue } from '../customers.ts'
import { longestText, shortestPassword } from './customer-service.ts'
import { complaint, document, wrong } from './document.ts'
import { count } from './figures.ts'

export interface EntranceForm {
  readonly email: string
  readonly invite: string
  readonly issues: readonly FormIssue[]
}

export function registerPage(
  { grants }: FullContract,
  { email, invite, issues }: EntranceForm,
): Html {
  return document({
    title: 'Register',
    path: '/register',
    viewer: null,
    main: html`<section class="card narrow">
<h1>Register</h1>
<p class="lead">A new account starts with ${count(grants.newAccount)} free credits.</p>
${complaint(issues)}
<form method="post" action="/register" class="fields">
<label>E-mail <input name="email" type="email" autocomplete="username" required maxlength="${longestText}" value="${email}"${wrong(issues, 'email')}></label>
<label>Password <input name="password" type="password" autocomplete="new-password" required minlength="${shortestPassword}" maxlength="${longestText}"${wrong(issues, 'password')}><small>At least ${shortestPassword} characters.</small></label>
<label>Invite code <small>if somebody gave you one</small> <input name="invite" autocomplete="off" spellcheck="false" maxlength="40" value="${invite}"${wrong(issues, 'invite')}></label>
<button>Register</button>
</form>
<p class="note">No e-mail is sent: this is a service for tests. <a href="/sign-in">Sign in</a> if you have an account.</p>
</section>`,
  })
}

export function signInPage(
  { email, issues }: Pick<EntranceForm, 'email' | 'issues'>,
  keyIssues: readonly FormIssue[] = [],
): Html {
  return document({
    title: 'Sign in',
    path: '/sign-in',
    viewer: null,
    main: html`<div class="doors"><section class="card">
<h1>Sign in</h1>
${complaint(issues)}
<form method="post" action="/sign-in" class="fields">
<label>E-mail <input name="email" type="email" autocomplete="username" required maxlength="${longestText}" value="${email}"${wrong(issues, null)}></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required maxlength="200"${issues.length > 0 && html` aria-invalid="true" aria-describedby="wrong-form"`}></label>
<button>Sign in</button>
</form>
<p class="note">No account yet? <a href="/register">Register</a>, it is free.</p>
</section>
<section class="card">
<h2>View usage with an API key</h2>
<p class="lead">A key opens the usage page of its account and nothing else. The keys that <code>assay serve</code> prints work here.</p>
${complaint(keyIssues, 'key')}
<form method="post" action="/sign-in" class="fields">
<label>API key <input name="key" type="password" autocomplete="off" spellcheck="false" required maxlength="200" placeholder="sk-svc-…"${wrong(keyIssues, null, 'key')}></label>
<button>Show usage</button>
</form>
</section></div>`,
  })
}
