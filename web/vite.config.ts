import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { drawings } from './drawings.ts'
import { highlightSketches } from './highlight-sketches.ts'
import { prerender } from './prerender.ts'
import { standIns } from './stand-ins.ts'

const bff = process.env['BFF_URL'] ?? 'http://localhost:3000'
/** As a page of its own would ask: it takes changes from its own site alone. */
const toBff = { target: bff, headers: { origin: bff } }

export default defineConfig({
  plugins: [react(), drawings, highlightSketches, standIns(), prerender()],
  // Each name is in a script as well.
  css: { modules: { generateScopedName: '[local]_[hash:base64:4]' } },
  resolve: {
    // React has had it since version 18; the stand-in for older ones stays away.
    alias: [{ find: /^use-sync-external-store\/shim$/, replacement: 'react' }],
  },
  // What the build leaves out is missing in development too, so that nobody comes to rely on it.
  optimizeDeps: { rolldownOptions: { plugins: [standIns()] } },
  build: {
    // Fonts and pictures stay files: the content security policy allows no data: sources.
    assetsInlineLimit: 0,
    // One small style sheet: no page appears unstyled, and no tab from before a deployment misses a part of it.
    cssCodeSplit: false,
    // Each document names what it needs; on the way to another page, a screen is asked for when a link to it is pointed at.
    modulePreload: false,
    // Making a schema or an event does nothing else: those that no page reads with are left out, and what of zod only they need.
    rolldownOptions: {
      treeshake: {
        manualPureFunctions: ['z', 'field', 'lineOfText', 'requiredLine', 'defineEvent'],
      },
      output: {
        // Few files: many small ones cost more, each with its name in others.
        codeSplitting: {
          groups: [
            // All that every page needs.
            {
              name: 'app',
              test: /\/src\/(app\/main|ui\/(Notice|Drawing))\.tsx$|\/contracts\/src\/class-date\./,
              priority: 2,
            },
            {
              name: 'reading',
              test: /\/src\/(reading\/(ContentPage|Blocks|Cards|RichText|OutsideLink)|guides\/guide-cards|contact\/support-email)\./,
              includeDependenciesRecursively: false,
            },
            {
              name: 'controls',
              test: /\/src\/(ui\/(Field|Labelled|Select|Alert|DisabledUntilHydrated)\.|browser\/use-client-state|forms\/(field-errors|import-or-reload)|checkout\/(WayOn|way-on)\.|answers\/agreement)/,
              includeDependenciesRecursively: false,
            },
            // What there is to book and to buy.
            {
              name: 'offers',
              test: /\/contracts\/src\/(pricing|products|opening-(levels|prices))\.|\/src\/classes\/(classes-query|level-looks|class-offer)\.|classes-view\.json/,
              includeDependenciesRecursively: false,
            },
            {
              name: 'registration',
              test: /\/src\/(registration\/(record|failure)|browser\/uuid-v7|checkout\/use-external-redirect|ui\/Steps)\./,
              includeDependenciesRecursively: false,
            },
            {
              name: 'times',
              test: /\/src\/(school-date|classes\/(class-time|ClassTime))\./,
              includeDependenciesRecursively: false,
              // Before what every page needs: that names the school's date, and few pages ask for it.
              priority: 3,
            },
            {
              name: 'carousel',
              test: /\/src\/ui\/(use-carousel|use-attention)\./,
              includeDependenciesRecursively: false,
            },
          ],
        },
      },
    },
  },
  // Of several files, so that what few browsers need is loaded by those alone.
  worker: { format: 'es' },
  server: { proxy: { '/api': toBff, '/webhooks': toBff, '/waiver.pdf': toBff } },
})
