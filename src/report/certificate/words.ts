import type { Headline, Tone } from '../banner.ts'
import type { Certificate, CertificatePart, CertificateVerdict } from './shape.ts'

const toneOf: Readonly<Record<CertificateVerdict, Tone>> = {
  pass: 'good',
  fail: 'fail',
  inconclusive: 'warn',
}
const titleOf: Readonly<Record<CertificatePart['part'], string>> = {
  rate: 'Rate:',
  answers: 'Answers:',
  model: 'Model:',
  charges: 'Charges:',
}
const namedOf = ({ parts }: Certificate, verdict: CertificateVerdict) =>
  parts
    .filter((part) => part.verdict === verdict)
    .map(({ part }) => part)
    .join(', ')

/** The verdict in one line: `Not certified: model failed`. */
export function certificateTitle(certificate: Certificate): string {
  switch (certificate.verdict) {
    case 'pass':
      return `Certified: ${certificate.rate}, with right answers, the same model and right charges`
    case 'fail':
      return `Not certified: ${namedOf(certificate, 'fail')} failed`
    case 'inconclusive':
      return `Not certified yet: ${namedOf(certificate, 'inconclusive')} not decided`
  }
}

const percent = (share: number) => `${Number((100 * share).toPrecision(2))} %`

/** How often the verdict errs by chance, in whole sentences. */
export function chanceText({ verdict, parts, passesByChance }: Certificate): string {
  switch (verdict) {
    case 'pass':
      return `If one of these is not so, this verdict comes by chance in at most ${percent(passesByChance)} of such runs, the sum of ${parts.map((part) => `${part.part} ${percent(part.passesByChance)}`).join(', ')}.`
    case 'fail':
      return parts
        .filter((part) => part.verdict === 'fail')
        .map(failureText)
        .join(' ')
    case 'inconclusive':
      return 'What is not decided is no pass.'
  }
}

function failureText({ part, failsByChance }: CertificatePart): string {
  if (failsByChance === null)
    return 'How often a service that sustains a rate is given none is not known.'
  return failsByChance === 0
    ? `That ${part} failed is no matter of chance.`
    : `If ${part === 'model' ? 'the model is the same' : 'the threshold is kept'}, this failure comes by chance in at most ${percent(failsByChance)} of such runs.`
}

/** The answer of a page with its certificate first. */
export function certifiedHeadline(certificate: Certificate, answer: Headline): Headline {
  return {
    ...answer,
    tone: toneOf[certificate.verdict],
    summary: certificateTitle(certificate),
    because: `${chanceText(certificate)} ${answer.because}`,
    checks: [
      ...certificate.parts.map(({ part, verdict, said }) => ({
        ...{ tone: toneOf[verdict], name: titleOf[part], figure: said, remedy: null },
      })),
      ...answer.checks,
    ],
  }
}

/** The certificate line by line, as text: the verdict, how often it errs, and each part. */
export const certificateLines = (certificate: Certificate): readonly string[] => [
  `${certificateTitle(certificate)}.`,
  chanceText(certificate),
  ...certificate.parts.map(({ part, verdict, said }) => `${titleOf[part]} ${verdict}, ${said}.`),
]
