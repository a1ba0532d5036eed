import headingFace from '@fontsource-variable/bricolage-grotesque/files/bricolage-grotesque-latin-wght-normal.woff2?url'
import textFace from '@fontsource-variable/atkinson-hyperlegible-next/files/atkinson-hyperlegible-next-latin-wght-normal.woff2?url'
import { HeadContent, Scripts } from '@tanstack/react-router'

/**
 * Runs before the first paint, for what a prerendered page cannot know of its visitor: whether scripts run, the cookie
 * banner was accepted, and somebody was signed in. Style sheets go by it, so that nothing flashes or moves.
 */
const beforePaint = `(function(){var d=document.documentElement.dataset;d.scripts="";try{if(localStorage.cookiesAccepted==="true")d.cookies="";if(localStorage.signedIn)d.signedIn=""}catch(e){}})()`

/**
 * The whole document, made when the site is built. In the browser the application is what is in `#root`: the rest needs no
 * script to stay as it is.
 */
export function Document({ application, siteUrl }: { application: string; siteUrl: string }) {
  return (
    <html lang="en" data-site={siteUrl}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content="#fbfaf6" media="(prefers-color-scheme: light)" />
        <meta name="theme-color" content="#0b1a2f" media="(prefers-color-scheme: dark)" />
        {/* The faces of every first screen come with the style sheet: the first text is set in them, and nothing shifts. */}
        {[headingFace, textFace].map((face) => (
          <link key={face} rel="preload" as="font" type="font/woff2" crossOrigin="" href={face} />
        ))}
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        <link rel="icon" href="/icons/icon-32.png" type="image/png" sizes="32x32" />
        <link rel="apple-touch-icon" href="/icons/icon-180.png" />
        <link rel="manifest" href="/site.webmanifest" />
        <link rel="alternate" type="application/rss+xml" title="News of Robo Kids Learning" href="/news/rss.xml" />
        <script dangerouslySetInnerHTML={{ __html: beforePaint }} />
        <HeadContent />
      </head>
      <body>
        <div id="root" dangerouslySetInnerHTML={{ __html: application }} />
        <Scripts />
      </body>
    </html>
  )
}
