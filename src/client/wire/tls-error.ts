const certificateCodes =
  /^(CERT_|ERR_TLS_CERT|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|CRL_)/

/** Whether an error code means a certificate that is not trusted. */
export const isCertificateError = (code: string): boolean => certificateCodes.test(code)

/** Whether an error code means a failed handshake or a certificate that is not trusted. */
export function isTlsError(code: string): boolean {
  return (
    code.startsWith('ERR_TLS') ||
    code.startsWith('ERR_SSL') ||
    code === 'EPROTO' ||
    isCertificateError(code)
  )
}
