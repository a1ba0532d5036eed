import { useQuery } from '@tanstack/react-query'
import { Skeleton } from '../ui/Skeleton.tsx'
import styles from './TotpSetUp.module.css'

/** The quiet zone around the code, in modules, as the standard requires. */
const quiet = 4

/** The code's dark modules as one path, and its width. The generator is imported only when a code is shown. */
async function drawCode(text: string): Promise<{ path: string; size: number }> {
  const { create } = await import('qrcode')
  const { size, data } = create(text, { errorCorrectionLevel: 'M' }).modules
  let path = ''
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) if (data[y * size + x]) path += `M${x + quiet} ${y + quiet}h1v1h-1z`
  }
  return { path, size: size + 2 * quiet }
}

interface TotpSetUpProps {
  secret: string
  uri: string
}

/** The secret for an authenticator app, to scan or to type. */
export function TotpSetUp({ secret, uri }: TotpSetUpProps) {
  const code = useQuery({ queryKey: ['qr-code', uri], queryFn: () => drawCode(uri), gcTime: 0, staleTime: Infinity })
  return (
    <div className={styles.setUp}>
      <div className={styles.picture} aria-busy={code.isPending}>
        {code.data && (
          <svg
            viewBox={`0 0 ${code.data.size} ${code.data.size}`}
            role="img"
            aria-label="QR code for your authenticator app"
            shapeRendering="crispEdges"
          >
            <path d={code.data.path} fill="#000" />
          </svg>
        )}
        {code.isPending && <Skeleton height="100%" />}
        {code.isError && <p className={styles.missing}>The QR code didn’t load. Please type in the key.</p>}
      </div>
      <div className={styles.words}>
        <p>Scan this with your authenticator app, or type in the key:</p>
        <code className={styles.secret}>{secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code>
        <a href={uri}>Open it in an app on this device</a>
      </div>
    </div>
  )
}
