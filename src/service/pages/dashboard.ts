import { randomUUID } from 'node:crypto'
import type { FullContract, Package } from '../../contract/contract.ts'
import { type Html, html } from '../../user/html.ts'
import type { Field, FormIssue } from '../customers.ts'
import { bandOf } from '../honest/limits.ts'
import type { ApiKey } from '../ledger/accounts.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Profile } from '../profile.ts'
import type { CustomerService, Payment } from './customer-service.ts'
import { complaint, document, type Viewer, wrong } from './document.ts'
import { count, day, moment, plural, price } from './figures.ts'
import type { Flash, NewKey } from './flashes.ts'
import { nextExpiry } from './next-expiry.ts'

export interface DashboardParts extends Flash {
  readonly viewer: Viewer
  readonly contract: FullContract
  readonly profile: Profile
  readonly ledger: Ledger
  readonly customerService: CustomerService
  /** Scheme, host and port in the browser's view. */
  readonly origin: string
  /** The fields of the refused form. */
  readonly typed: URLSearchParams
  readonly issues: readonly FormIssue[]
}

export function dashboardPage(parts: DashboardParts): Html {
  const {
    viewer,
    contract,
    profile,
    ledger,
    customerService,
    origin,
    said,
    newKeys,
    typed,
    issues,
  } = parts
  const { account, formToken } = viewer
  const { balance } = ledger.balance(account.id)
  const token = html`<input type="hidden" name="token" value="${formToken}">`
  const payments = customerService.payments(account.id)
  return document({
    title: 'Dashboard',
    path: '/dashboard',
    viewer,
    main: html`<h1>Dashboard</h1>
${said.map((sentence) => html`<p class="notice good" role="status">${sentence}</p>`)}
${complaint(issues)}
${newKeys.map((newKey) => newKeyCard(newKey, origin, contract))}
${balanceFigures(parts, balance)}
<section class="card" id="keys">
<h2>API keys</h2>
${keyTable(customerService.liveKeys(account.id), token)}
<form method="post" action="/dashboard/keys" class="inline">${token}
<label>Name of a new key <input name="name" required maxlength="60" autocomplete="off" placeholder="such as: laptop"${refilled(typed, issues, 'name')}></label>
<button>Make a key</button></form>
<p class="note">A key is shown once and stored as its hash. All keys of an account spend the same credits.</p>
</section>
<section id="packages">
<h2>Buy credits</h2>
<div class="packages">${contract.packages.map((pack) => packageCard(pack, token))}</div>
<p class="note">Payments are simulated: no money moves, and no card is needed. ${profile.burnOrder === 'expiry' ? 'Credits that expire soonest' : 'The oldest credits'} are spent first. For larger packages, contact sales.</p>
${payments.length > 0 && paymentTable(payments)}
</section>
${inviteCard(parts)}`,
  })
}

/** The attributes of a refused field: its previous text and the error. */
function refilled(
  typed: URLSearchParams,
  issues: readonly FormIssue[],
  field: Field,
): Html | false {
  const mark = wrong(issues, field)
  return mark && html` value="${typed.get(field) ?? ''}"${mark}`
}

function newKeyCard({ name, key }: NewKey, origin: string, contract: FullContract): Html {
  const { prefix, name: header } = contract.auth.chat
  const model = contract.models[0]?.id ?? ''
  return html`<section class="card good">
<h2>Your new key “${name}”</h2>
<p>Copy it now. It is not stored, so it cannot be shown again.</p>
<p class="secret"><code>${key}</code></p>
<details><summary>Try it</summary><pre tabindex="0"><code>curl ${origin}${contract.paths.chat} \\
  -H '${header}: ${prefix}${key}' \\
  -H 'content-type: application/json' \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'</code></pre></details>
</section>`
}

function balanceFigures(
  { viewer, contract, profile, ledger, customerService }: DashboardParts,
  balance: number,
): Html {
  const lots = ledger.lotsOf(viewer.account.id)
  const band = bandOf(contract, profile, balance)
  const keys = customerService.liveKeys(viewer.account.id).length
  return html`<dl class="figures">
<div><dt>Credits</dt><dd id="balance">${count(balance)}</dd><dd class="aside">${nextExpiry(lots, (us) => `${day(us)} (UTC)`)}</dd></div>
<div><dt>Requests a minute, for each key</dt><dd>${band === undefined ? '–' : count(band.requests.minute)}</dd><dd class="aside">${
    band === undefined
      ? 'no credits left: buy some below'
      : `${count(band.requests.hour)} an hour, ${count(band.requests.day)} a day`
  }</dd></div>
<div><dt>API keys</dt><dd>${count(keys)}</dd><dd class="aside"><a href="/my-credits">what they spent</a></dd></div>
</dl>`
}

function keyTable(keys: readonly ApiKey[], token: Html): Html {
  if (keys.length === 0) return html`<p class="empty">No key. Make one to send requests.</p>`
  return html`<div class="table-scroll" tabindex="0" role="region" aria-label="API keys"><table>
<thead><tr><th>Name</th><th>Key</th><th class="wide">Made (UTC)</th><td></td></tr></thead>
<tbody>${keys.map(
    ({
      id,
      name,
      hint,
      createdUs,
    }) => html`<tr><th class="txt">${name}</th><td class="nowrap"><code>sk-svc-…${hint}</code></td><td class="nowrap wide">${moment(createdUs)}</td>
<td class="num"><details class="ask"><summary>Revoke</summary><form method="post" action="/dashboard/keys/revoke">${token}<input type="hidden" name="key" value="${id}">
<button class="danger">Revoke “${name}” for good</button></form></details></td></tr>`,
  )}</tbody></table></div>`
}

function packageCard(
  { name, credits, priceUsdCents, validMonths, listedUsdPerCredit }: Package,
  token: Html,
): Html {
  return html`<form method="post" action="/dashboard/buy" class="card package">${token}
<input type="hidden" name="package" value="${name}"><input type="hidden" name="order" value="${randomUUID()}">
<h3>${name}</h3>
<p class="credits"><b>${count(credits)}</b> credits</p>
<p>${price(priceUsdCents)} <small>${listedUsdPerCredit.toFixed(4)} USD a credit</small></p>
<p class="validity">${validMonths === null ? 'never expire' : `valid for ${plural(validMonths, 'month')}`}</p>
<button>Buy ${name}</button></form>`
}

function paymentTable(payments: readonly Payment[]): Html {
  return html`<h3 class="above-table">Payments</h3><div class="card"><div class="table-scroll" tabindex="0" role="region" aria-label="Payments"><table>
<thead><tr><th>When (UTC)</th><th>Package</th><th class="num">Credits</th><th class="num">Price</th><th>Expire (UTC)</th></tr></thead>
<tbody>${payments.map(
    (payment) =>
      html`<tr><td class="nowrap">${moment(payment.atUs)}</td><td>${payment.package}</td><td class="num">${count(payment.credits)}</td><td class="num">${price(payment.priceUsdCents)}</td><td class="nowrap">${payment.expiresUs === null ? 'never' : moment(payment.expiresUs)}</td></tr>`,
  )}</tbody></table></div></div>`
}

function inviteCard({
  viewer,
  contract,
  customerService,
  origin,
  typed,
  issues,
}: DashboardParts): Html {
  const { account } = viewer
  const { inviteRegistration, inviteFirstPayment } = contract.grants
  const invited = customerService.invited(account.id)
  return html`<section class="card" id="invite">
<h2>Invite others</h2>
<p>You get ${count(inviteRegistration)} credits when somebody registers with your code, and ${count(inviteFirstPayment)} more when that person pays for the first time.</p>
<dl class="pairs"><dt>Code</dt><dd><code id="invite-code">${account.inviteCode}</code></dd>
<dt>Link</dt><dd><code>${origin}/register?invite=${account.inviteCode}</code></dd>
<dt>So far</dt><dd>${plural(invited, 'person', 'people')} registered with it</dd></dl>
${
  account.invitedBy === null &&
  html`<form method="post" action="/dashboard/invite" class="inline"><input type="hidden" name="token" value="${viewer.formToken}">
<label>Were you invited? Enter the code <input name="invite" required maxlength="40" autocomplete="off" spellcheck="false"${refilled(typed, issues, 'invite')}></label>
<button>Enter the code</button></form>`
}
</section>`
}
