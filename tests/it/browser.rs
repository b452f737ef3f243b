//! A browser for tests: Chromium through its driver, which speaks JSON over HTTP.

use crate::support::skip;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A page is there, or has reacted, after this time at most. A busy machine needs more than the page does.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running browser. It ends with this value.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser with a window of this size. Where there is none the test skips; where `CTXSIM_REQUIRE_BROWSER` is 1 it fails instead.
    pub fn start(width: u32, height: u32) -> Option<Browser> {
        let driver = Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let Ok(mut driver) = driver else {
            skip("CTXSIM_REQUIRE_BROWSER", "no chromedriver here: the page was not opened in any browser");
            return None;
        };
        let words = "started successfully on port ";
        let line = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok).find(|line| line.contains(words)).unwrap();
        let digits: String = line.split(words).nth(1).unwrap().chars().take_while(char::is_ascii_digit).collect();
        let profile = tempfile::tempdir().unwrap();
        let mut browser = Browser { driver, port: digits.parse().unwrap(), session: String::new(), _profile: profile };
        let mut arguments: Vec<String> = ["headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-sync"]
            .iter()
            .chain(&["disable-background-networking", "disable-component-update", "disable-dev-shm-usage"])
            .map(|flag| format!("--{flag}"))
            .collect();
        arguments.push(format!("--user-data-dir={}", browser._profile.path().display()));
        arguments.push(format!("--window-size={width},{height}"));
        let wanted = json!({"goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}});
        let made = browser.ask("POST", "/session", &json!({"capabilities": {"alwaysMatch": wanted}}));
        browser.session = made["sessionId"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
        Some(browser)
    }

    /// Opens a file, with what stands behind its `#`, and says how long it took until it was there.
    pub fn open(&self, file: &Path, fragment: &str) -> Duration {
        self.command("POST", "/url", &json!({"url": "about:blank"}));
        let address = format!("file://{}{fragment}", file.display());
        let start = Instant::now();
        self.command("POST", "/url", &json!({"url": address}));
        start.elapsed()
    }

    /// Runs a script and gives what it returns.
    pub fn run(&self, script: &str) -> Value {
        self.command("POST", "/execute/sync", &json!({"script": script, "args": []}))
    }

    /// The words that a script returns.
    pub fn words(&self, script: &str) -> String {
        self.run(script).as_str().unwrap_or_default().to_owned()
    }

    /// Waits until a script returns something true, and says how long that took.
    pub fn wait(&self, script: &str) -> Duration {
        let start = Instant::now();
        while !self.run(script).as_bool().unwrap_or(false) {
            assert!(start.elapsed() < PATIENCE, "still not: {script}\n{}", self.complaints().join("\n"));
            std::thread::sleep(Duration::from_millis(20));
        }
        start.elapsed()
    }

    /// Speaks the browser's own protocol.
    pub fn protocol(&self, command: &str, parameters: &Value) -> Value {
        self.command("POST", "/goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    /// What the console holds: errors and refusals of the page's security policy.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.command("POST", "/se/log", &json!({"type": "browser"}));
        log.as_array().into_iter().flatten().map(|line| format!("{}: {}", line["level"], line["message"])).collect()
    }

    /// Addresses that anything was asked of.
    pub fn requests(&self) -> Vec<String> {
        let log = self.command("POST", "/se/log", &json!({"type": "performance"}));
        let messages =
            log.as_array().into_iter().flatten().filter_map(|line| serde_json::from_str::<Value>(line["message"].as_str()?).ok());
        let sent = messages.filter(|message| message["message"]["method"] == "Network.requestWillBeSent");
        sent.filter_map(|message| Some(message["message"]["params"]["request"]["url"].as_str()?.to_owned())).collect()
    }

    fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        self.ask(method, &format!("/session/{}{path}", self.session), body)
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let body = body.to_string();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(answer["value"].get("error").is_none(), "{path}: {}", answer["value"]);
        answer["value"].clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.command("DELETE", "", &json!({}));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
