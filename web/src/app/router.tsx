import type { LevelClassType } from '@robokids/contracts/enrollment'
import type { PagePath } from '@robokids/contracts/pages'
import { type ProductSku, robotSpider, teddyBear } from '@robokids/contracts/products'
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import {
  type AsyncRouteComponent,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  type RouterHistory,
} from '@tanstack/react-router'
import { parseSearch, type Search, stringifySearch } from '../browser/search.ts'
import { Frame } from '../frame/Frame.tsx'
import { Loading } from '../frame/Loading.tsx'
import { ScreenError } from '../frame/ScreenError.tsx'
import type { Content } from '../reading/blocks.ts'

export interface Context {
  queryClient: QueryClient
  /** Where the site is, for whole addresses. Known where documents are made. */
  siteUrl: string
}

const root = createRootRouteWithContext<Context>()({
  component: Frame,
  notFoundComponent: lazyRouteComponent(() => import('../frame/NotFound.tsx'), 'NotFound'),
  validateSearch: (search): Search => search as Search,
})

/** Asks for what a screen reads, without waiting: the screen has its own skeleton meanwhile. */
const classes = ({ queryClient }: Context) =>
  void import('../classes/classes-query.ts')
    .then(({ classesQuery }) => queryClient.prefetchQuery(classesQuery))
    .catch(() => undefined)

const shopping = ({ queryClient }: Context) =>
  void import('../shop/shop-query.ts')
    .then(({ shopQuery }) => queryClient.prefetchQuery(shopQuery))
    .catch(() => undefined)

/** A screen is loaded when a link to it is pointed at, or when it is visited. */
function page<const Path extends PagePath>(
  path: Path,
  title: string,
  component: AsyncRouteComponent<object>,
  ...prefetches: ((context: Context) => void)[]
) {
  return createRoute({
    getParentRoute: () => root,
    path,
    component,
    staticData: { title },
    loader: ({ context }) => {
      if (import.meta.env.SSR) return
      for (const prefetch of prefetches) prefetch(context)
    },
  })
}

function signUp(classType: LevelClassType) {
  return lazyRouteComponent(async () => {
    const { SignUp } = await import('../registration/SignUp.tsx')
    return { SignUpForLevel: () => <SignUp classType={classType} /> }
  }, 'SignUpForLevel')
}

function product(sku: ProductSku) {
  return lazyRouteComponent(async () => {
    const { ProductPage } = await import('../shop/ProductPage.tsx')
    return { OneProduct: () => <ProductPage sku={sku} /> }
  }, 'OneProduct')
}

/** What is only read: the screen that shows it, together with what it says. */
function reading(load: () => Promise<Content>) {
  return lazyRouteComponent(async () => {
    const [{ ContentPage }, content] = await Promise.all([import('../reading/ContentPage.tsx'), load()])
    return { Reading: () => <ContentPage content={content} /> }
  }, 'Reading')
}

/** A guide needs more: its circuits and sketches. */
function building(load: () => Promise<Content>) {
  return lazyRouteComponent(async () => {
    const [{ ContentPage }, { showGuideBlock }, content] = await Promise.all([
      import('../reading/ContentPage.tsx'),
      import('../guides/GuideBlocks.tsx'),
      load(),
    ])
    return { Building: () => <ContentPage content={content} ownBlock={showGuideBlock} /> }
  }, 'Building')
}

const home = lazyRouteComponent(() => import('../home/Home.tsx'), 'Home')
const landing = lazyRouteComponent(() => import('../classes/Landing.tsx'), 'Landing')
const payment = lazyRouteComponent(() => import('../registration/Payment.tsx'), 'Payment')
const confirmation = lazyRouteComponent(() => import('../registration/Confirmation.tsx'), 'Confirmation')
const receipt = lazyRouteComponent(() => import('../registration/Receipt.tsx'), 'Receipt')
const membership = lazyRouteComponent(() => import('../membership/Membership.tsx'), 'Membership')
const membershipRegister = lazyRouteComponent(
  () => import('../membership/MembershipRegister.tsx'),
  'MembershipRegister',
)
const login = lazyRouteComponent(() => import('../account/Login.tsx'), 'Login')
const confirm = lazyRouteComponent(() => import('../account/Confirm.tsx'), 'Confirm')
const membershipSuccess = lazyRouteComponent(() => import('../membership/MembershipSuccess.tsx'), 'MembershipSuccess')
const oauthRedirect = lazyRouteComponent(() => import('../account/OauthRedirect.tsx'), 'OauthRedirect')
const profile = lazyRouteComponent(() => import('../profile/Profile.tsx'), 'Profile')
const waiver = lazyRouteComponent(() => import('../waiver/Waiver.tsx'), 'Waiver')
const shop = lazyRouteComponent(() => import('../shop/Shop.tsx'), 'Shop')
const order = lazyRouteComponent(() => import('../shop/OrderPage.tsx'), 'OrderPage')
const notice = lazyRouteComponent(() => import('../shop/NoticePage.tsx'), 'NoticePage')
const about = reading(async () => (await import('../content/about.ts')).about)
const founder = reading(async () => (await import('../content/about.ts')).founder)
const director = reading(async () => (await import('../content/about.ts')).director)
const contact = lazyRouteComponent(() => import('../contact/Contact.tsx'), 'Contact')
const faq = reading(async () => (await import('../content/faq.ts')).faq)
const levels = lazyRouteComponent(() => import('../classes/Levels.tsx'), 'Levels')
const privacy = reading(async () => (await import('../content/privacy.ts')).privacy)
const terms = reading(async () => (await import('../content/terms.ts')).terms)
const newsAndGuides = reading(async () => (await import('../news/news-pages.ts')).newsAndGuides)
const newsPage = reading(async () => (await import('../news/news-pages.ts')).newsPage)
const blog = reading(async () => (await import('../news/blog.ts')).blog)
const welcome = reading(async () => (await import('../news/welcome.ts')).welcome)
const securityBasics = reading(async () => (await import('../news/security-basics.ts')).securityBasics)
const fallLaunch = reading(async () => (await import('../news/fall-launch.ts')).fallLaunch)
const bugbots = reading(async () => (await import('../news/bugbots.ts')).bugbots)
const lightSwitch = building(async () => (await import('../guides/light-switch.ts')).lightSwitch)
const motorGuide = building(async () => (await import('../guides/motor.ts')).motorGuide)
const servoGuide = building(async () => (await import('../guides/servo.ts')).servoGuide)
const innovator = reading(async () => (await import('../content/innovator.ts')).innovator)
const follow = reading(async () => (await import('../content/follow.ts')).follow)
const designSystem = lazyRouteComponent(() => import('../design-system/DesignSystem.tsx'), 'DesignSystem')

const routeTree = root.addChildren([
  page('/', 'Empowering Kids to Build the Future', home),
  page('/shop', 'Shop', shop, shopping),
  page('/shop/robot-spider', 'Robot Spider', product(robotSpider), shopping),
  page('/shop/teddy-bear', 'AI Teddy Bear Companion', product(teddyBear), shopping),
  page('/shop/success', 'Your order', order),
  page('/shop/notice', 'News from the shop', notice),
  page('/robokidslanding', 'Live robotics classes', landing, classes),
  page('/levels', 'Compare levels', levels, classes),
  page('/robokids', 'Level 1 Foundations', signUp('basic'), classes),
  page('/robokidspage1', 'Level 1 Foundations', signUp('basic'), classes),
  page('/robokidspage2', 'Level 2 Smart Robotics and Coding', signUp('intermediate'), classes),
  page('/robokidspage3', 'Level 3 Autonomous Mastery', signUp('advanced'), classes),
  page('/robokidspage4', 'Level X Custom Innovation Lab', signUp('custom'), classes),
  page('/robokids-payment', 'Payment', payment),
  page('/robokids/success', 'Your registration', confirmation),
  page('/robokids-success', 'Your registration', confirmation),
  page('/robokids/receipt', 'Receipt', receipt),
  page('/robokids/waiver', 'Waiver', waiver),
  page('/waiver', 'Waiver', waiver),
  page('/membership', 'Membership', membership),
  page('/membership/register', 'Create Your ChronoTech Account', membershipRegister),
  page('/membership/login', 'Log in', login),
  page('/confirm', 'Confirm Your Email', confirm),
  page('/success', 'Payment', membershipSuccess),
  page('/oauth-redirect', 'Processing login', oauthRedirect),
  page('/profile', 'Your profile', profile),
  page('/about', 'About us', about),
  page('/about/founder-robo-kids-learning', 'The founder', founder),
  page('/about/director-educational-services', 'The Director of Educational Services', director),
  page('/contact', 'Contact Us', contact),
  page('/faq', 'FAQ', faq),
  page('/privacy', 'Privacy Policy', privacy),
  page('/terms', 'Terms of Service', terms),
  page('/news-guides', 'News & Guides', newsAndGuides),
  page('/news', 'News', newsPage),
  page('/blog', 'Blog', blog),
  page('/news/welcome', 'Welcome to Robo Kids Learning', welcome),
  page('/news/security-basics', 'How to tell a safe website', securityBasics),
  page('/news/fall-launch', 'Fall 2025 classes', fallLaunch, classes),
  page('/news/bugbots', 'Bug robots', bugbots),
  page('/guides/light-switch', 'Guide: light switch', lightSwitch),
  page('/guides/motor-guide', 'Guide: motor', motorGuide),
  page('/guides/servo-guide', 'Guide: servo', servoGuide),
  page('/innovator', 'Innovator Program', innovator),
  page('/follow', 'Follow Us', follow),
  page('/design-system', 'Design system', designSystem),
  createRoute({
    getParentRoute: () => root,
    path: '/admin',
    beforeLoad: () => {
      throw redirect({ to: '/', replace: true })
    },
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/guides',
    beforeLoad: () => {
      throw redirect({ to: '/news-guides', replace: true })
    },
  }),
])

interface RouterOptions {
  siteUrl?: string
  history?: RouterHistory
}

export function buildRouter(queryClient: QueryClient, { siteUrl = '', history }: RouterOptions = {}) {
  return createRouter({
    routeTree,
    ...(history ? { history } : {}),
    context: { queryClient, siteUrl },
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultPendingComponent: Loading,
    defaultErrorComponent: ScreenError,
    scrollRestoration: true,
    Wrap: ({ children }) => <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>,
  })
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The page's part of the document's title. */
    title?: string
  }
  interface Register {
    router: ReturnType<typeof buildRouter>
  }
}
