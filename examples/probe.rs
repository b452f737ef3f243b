use ctxsim::catalog::Catalog;
use ctxsim::experiment::*;
struct P;
impl Progress for P {
    fn files(&self, _: usize) {}
    fn file_done(&self) {}
}
fn main() {
    let catalog = Catalog::builtin().unwrap();
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let s = ReadSettings { catalog: &catalog, model: None, format: None, engine: Default::default(), vocabulary: None, progress: &P };
    let t = std::time::Instant::now();
    let c = read(&paths, &s).unwrap();
    eprintln!("read {:?}", t.elapsed());
    let f = &c.facts;
    println!(
        "files {} {:?} sessions {} messages {} calls {} with usage {} trust {:?} prompt {} out {} max {} anchored {} dup {:?}",
        f.files,
        f.formats,
        f.sessions,
        f.messages,
        f.calls,
        f.calls_with_usage,
        f.usage_by_trust,
        f.recorded_prompt_tokens,
        f.recorded_output_tokens,
        f.max_prompt_tokens,
        f.anchored_millionths,
        f.duplicates
    );
    for s in f.skipped.iter().take(15) {
        println!("skipped {} {}", s.path, s.reason);
    }
    println!("skipped total {}", f.skipped.len());
    for l in f.losses.iter().take(25) {
        println!("loss {:?}", l);
    }
    // none exactness
    let p = vec![ctxsim::policy::Policy::load("none").unwrap()];
    let t = std::time::Instant::now();
    let r = replay(&c, &p, &ReplaySettings { catalog: &catalog, window: Some(1 << 40), model: None, reserve: None }).unwrap();
    eprintln!("replay {:?}", t.elapsed());
    let mut err: std::collections::BTreeMap<String, (f64, u64, u64)> = Default::default();
    for (tr, o) in c.traces.iter().zip(&r[0].outcomes) {
        let mut wrong = 0;
        let mut n = 0;
        for x in &o.calls {
            if let Some(rec) = x.recorded {
                n += 1;
                if rec != x.actual {
                    wrong += 1;
                }
            }
        }
        let mut e = 0.0;
        let mut m = 0u64;
        let mut worst = (0.0, 0);
        let mut prev: Option<u64> = None;
        let mut ratios = vec![];
        for (i, call) in tr.calls.iter().enumerate() {
            if let Some(u) = call.usage.filter(|u| u.prompt > 0) {
                if let (Some(g), Some(p0)) = (call.predicted_growth, prev) {
                    let pred = p0 + g;
                    let er = (pred as f64 - u.prompt as f64).abs() / u.prompt as f64;
                    e += er;
                    m += 1;
                    if er > worst.0 {
                        worst = (er, i);
                    }
                    ratios.push((pred as i64 - u.prompt as i64));
                }
                prev = Some(u.prompt);
            }
        }
        let k = format!("{}:{}", tr.agent, tr.main_model().unwrap_or("-"));
        let en = err.entry(k).or_default();
        en.0 += e;
        en.1 += m;
        en.2 += wrong;
        if std::env::var("V").is_ok() {
            println!(
                "{} {} {} n={} wrong={} compactions={} mape={:.3}% worst={:.2}%@{} H0={} calib={} models={:?}",
                tr.source.rsplit('/').next().unwrap(),
                tr.agent,
                tr.id,
                n,
                wrong,
                tr.compactions.len(),
                100.0 * e / m.max(1) as f64,
                100.0 * worst.0,
                worst.1,
                tr.calls.first().map_or(0, |c| c.hidden),
                tr.calibration_thousandths,
                tr.models
            );
        }
    }
    for (k, (e, m, w)) in err {
        println!("{k}: n={m} MAPE={:.3}% wrong={w}", 100.0 * e / m.max(1) as f64);
    }
}
